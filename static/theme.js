// Runs before the first paint: the reader's own choice of light or dark, if there is one, and what needs a script to be of use.
(() => {
  const root = document.documentElement
  root.classList.add('scripted')
  let theme = null
  try { theme = localStorage.getItem('theme') } catch { /* no storage: as the system says */ }
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme
})()
