// Files and folders may be dropped anywhere, and files pasted.
import { word } from './page.js'
import { upload } from './uploads.js'

let depth = 0
const carriesFiles = event => event.dataTransfer?.types.includes('Files')
addEventListener('dragenter', event => {
  if (!carriesFiles(event)) return
  event.preventDefault()
  depth++
  document.body.dataset.drop = word('drop')
  document.body.classList.add('dropping')
})
addEventListener('dragover', event => { if (carriesFiles(event)) event.preventDefault() })
addEventListener('dragleave', event => {
  if (!carriesFiles(event)) return
  if (--depth <= 0) { depth = 0; document.body.classList.remove('dropping') }
})
addEventListener('drop', async event => {
  if (!carriesFiles(event)) return
  event.preventDefault()
  depth = 0
  document.body.classList.remove('dropping')
  upload(await gather(event.dataTransfer))
})

// A program that copies words may put a picture of them beside: the words count.
addEventListener('paste', event => {
  const files = [...event.clipboardData?.files ?? []]
  if (files.length === 0 || event.clipboardData.getData('text/plain')) return
  event.preventDefault()
  upload(files.map(file => ({ file, path: file.name })))
})

/** All files of a drop, folders included. */
async function gather(transfer) {
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean)
  const found = []
  const visit = async entry => {
    if (entry.isFile) {
      const file = await new Promise((done, fail) => entry.file(done, fail))
      found.push({ file, path: entry.fullPath.replace(/^\//, '') })
      return
    }
    const reader = entry.createReader()
    for (let batch; (batch = await new Promise((done, fail) => reader.readEntries(done, fail))).length > 0;) {
      for (const child of batch) if (!child.name.startsWith('.')) await visit(child)
    }
  }
  for (const entry of entries) await visit(entry)
  return found.length > 0 ? found : [...transfer.files].map(file => ({ file, path: file.name }))
}
