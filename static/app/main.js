// The page's own script. The server draws everything; this makes it live and quick to use. Without it the page works too.
import './stream.js'
import './timeline.js'
import './composer.js'
import './source.js'
import './keys.js'
import './files.js'
import './documents.js'
import './panel.js'
