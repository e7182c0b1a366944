"""Tests of pack.py: go test ./deploy/release runs them."""
import base64, hashlib, json, os, tarfile, tempfile, unittest, zipfile
from pathlib import Path
from unittest import mock

os.environ['SOURCE_DATE_EPOCH'] = '1764000000'
import pack

REPOSITORY = 'example.org/a/footnote'


def archived(path):
    """The files of an archive, and the modes of those that can be started."""
    if path.suffix in ('.tgz', '.gz'):
        with tarfile.open(path) as archive:
            assert {m.mtime for m in archive} == {pack.EPOCH}, path
            return ({m.name: archive.extractfile(m).read().decode() for m in archive},
                    {m.name for m in archive if m.mode & 0o111})
    with zipfile.ZipFile(path) as archive:
        assert {i.date_time for i in archive.infolist()} == {(2025, 11, 24, 16, 0, 0)}, path
        return ({i.filename: archive.read(i).decode() for i in archive.infolist()},
                {i.filename for i in archive.infolist() if i.external_attr >> 16 & 0o111})


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / 'notices').write_text('notices')
        for name in 'one', 'two':
            made = []
            for system, processor, *_ in pack.PLATFORMS:
                program = self.root / name / system / processor
                program.parent.mkdir(parents=True, exist_ok=True)
                program.write_text(f'program for {system}/{processor}')
                made.append({'path': str(program), 'type': 'Binary', 'goos': system, 'goarch': processor})
            (self.root / name / 'artifacts.json').write_text(json.dumps(made))
        with mock.patch.object(pack, 'NOTICES', self.root / 'notices'):
            for name in 'one', 'two':
                pack.packages(self.root / name, '1.2.3', REPOSITORY)
        self.dist = self.root / 'one'

    def test_packages_are_the_same_bytes_twice(self):
        files = [f for kind in ('npm', 'pypi', 'mcpb') for f in (self.dist / kind).iterdir()]
        self.assertEqual(len(files), 3 * len(pack.PLATFORMS) + 1)
        for file in files:
            self.assertEqual(file.read_bytes(), (self.root / 'two' / file.relative_to(self.dist)).read_bytes(), file)

    def test_a_platform_without_a_program_is_an_error(self):
        with mock.patch.object(pack, 'NOTICES', self.root / 'notices'):
            for made in '[]', (self.dist / 'artifacts.json').read_text():
                (self.dist / 'artifacts.json').write_text(made)
                (self.dist / 'linux/arm64').write_text('')
                with self.assertRaises((KeyError, SystemExit)):
                    pack.packages(self.dist, '1.2.3', REPOSITORY)

    def test_a_package_of_npm_starts_the_one_of_its_system(self):
        files, started = archived(self.dist / 'npm/footnote-1.2.3.tgz')
        main = json.loads(files['package/package.json'])
        self.assertEqual(main['bin'], {'footnote': 'launcher.cjs'})
        self.assertIn('package/launcher.cjs', started)
        self.assertNotIn('scripts', main)
        self.assertEqual(main['repository']['url'], 'git+https://example.org/a/footnote.git')
        self.assertEqual(len(main['optionalDependencies']), len(pack.PLATFORMS))
        for name, version in main['optionalDependencies'].items():
            files, started = archived(self.dist / 'npm' / f'{name.replace("@", "").replace("/", "-")}-{version}.tgz')
            part = json.loads(files['package/package.json'])
            self.assertEqual(part['name'], f'@footnote/{part["os"][0]}-{part["cpu"][0]}')
            program = 'package/footnote' + '.exe' * (part['os'] == ['win32'])
            self.assertEqual(started, {program})
            self.assertTrue(files[program].startswith('program for '))
            self.assertTrue(files['package/notices'] and files['package/LICENSE'])

    def test_a_wheel_records_all_that_it_holds(self):
        for system, processor, _, _, tags in pack.PLATFORMS:
            files, started = archived(self.dist / 'pypi' / f'footnote-1.2.3-py3-none-{tags}.whl')
            program = 'footnote-1.2.3.data/scripts/footnote' + '.exe' * (system == 'windows')
            self.assertEqual(started, {program})
            self.assertEqual(files[program], f'program for {system}/{processor}')
            record = files['footnote-1.2.3.dist-info/RECORD'].splitlines()
            for name, content in files.items():
                digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).decode().rstrip('=')
                line = f'{name},sha256={digest},{len(content)}'
                self.assertIn(f'{name},,' if name.endswith('/RECORD') else line, record)
            for tag in tags.split('.'):
                self.assertIn(f'\nTag: py3-none-{tag}\n', files['footnote-1.2.3.dist-info/WHEEL'])

    def test_a_bundle_starts_the_program_of_its_system(self):
        for system, processor, node, cpu, _ in pack.PLATFORMS:
            files, started = archived(self.dist / 'mcpb' / f'footnote-1.2.3-{node}-{cpu}.mcpb')
            manifest = json.loads(files['manifest.json'])
            server, asked = manifest['server'], manifest['user_config']
            self.assertEqual(files[server['entry_point']], f'program for {system}/{processor}')
            self.assertEqual(started, {server['entry_point']})
            self.assertEqual(server['mcp_config']['command'], '${__dirname}/' + server['entry_point'])
            self.assertEqual((server['type'], manifest['manifest_version']), ('binary', '0.3'))
            self.assertEqual(manifest['version'], '1.2.3')
            self.assertTrue(manifest['author']['name'])
            for value in server['mcp_config']['env'].values():
                field = asked[value.removeprefix('${user_config.').removesuffix('}')]
                self.assertTrue(field['title'] and field['description'])
            self.assertTrue(asked['key']['sensitive'])


class Others(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def test_the_model_is_packed_with_its_folders_and_its_licence(self):
        model = self.root / 'all-MiniLM-L6-v2'
        (model / '1_Pooling').mkdir(parents=True)
        for name in 'model.safetensors', '1_Pooling/config.json', '.gitattributes':
            (model / name).write_text(name)
        pack.model(model, self.root / 'model.tar.gz')
        self.assertEqual(sorted(archived(self.root / 'model.tar.gz')[0]), [
            f'all-MiniLM-L6-v2/{name}' for name in ('1_Pooling/config.json', 'LICENSE.txt', 'model.safetensors')])
        with self.assertRaises(SystemExit):
            pack.model(self.root / 'none', self.root / 'model.tar.gz')

    def test_versions_for_python(self):
        for version, want in {
                '1.2.3': '1.2.3', '1.2.3-rc.1': '1.2.3rc1', '1.2.3-beta2': '1.2.3b2', '1.2.3-alpha.10': '1.2.3a10',
                '0.0.0-dev.g4462e41b': '0.0.0.dev0+dev.g4462e41b', '1.2.3+build': '1.2.3'}.items():
            self.assertEqual(pack.python_version(version), want)

    def test_the_notices_name_every_module_that_is_linked(self):
        out = self.root / 'notices'
        with mock.patch.object(pack, 'PLATFORMS', [p for p in pack.PLATFORMS if p[:2] == ('linux', 'amd64')]):
            pack.notices(out)
        page = out.read_text()
        linked = {line for line in pack.go(
            'list', '-deps', '-tags=grpcnotrace,retrynotrace', '-f', '{{with .Module}}{{if not (or .Main (and .Replace '
            '(not .Replace.Version)))}}{{.Path}} {{.Version}}{{end}}{{end}}', './cmd/footnote').split('\n') if line}
        self.assertGreater(len(linked), 50)
        for module in linked:
            self.assertIn(f'\n  {module}\n', page)
            self.assertIn(f'\n{module} (', page)
        for licence in '2009 The Go Authors', 'Apache License', 'Permission is hereby granted':
            self.assertIn(licence, page)

    def test_the_bill_lists_what_is_embedded_too(self):
        def run(args, check):
            args[args.index('-output') + 1].write_text('{"metadata": {}, "components": [{"name": "example.org/a"}]}')
        with mock.patch.object(pack.subprocess, 'run', run):
            pack.bill('footnote', '1.2.3', self.root / 'bill')
        bill = json.loads((self.root / 'bill').read_text())
        self.assertEqual(bill['metadata']['timestamp'], '2025-11-24T16:00:00Z')
        self.assertEqual([c['name'] for c in bill['components']], [
            'example.org/a', '@fontsource/noto-sans-math', 'htmx.org', 'temml', 'PDFium, and what it is built with'])
        self.assertRegex(bill['components'][1]['purl'], r'^pkg:npm/%40fontsource/noto-sans-math@\d')

    def notices(self, *lines):
        with mock.patch.object(pack, 'PLATFORMS', pack.PLATFORMS[:1]), mock.patch.object(
                pack, 'go', lambda *args, **_: f'{self.root} go1.26' if args[0] == 'env' else '\n'.join(lines)):
            pack.notices(self.root / 'notices')
        return (self.root / 'notices').read_text()

    def test_a_linked_module_without_a_licence_is_noticed(self):
        (self.root / 'a/inner').mkdir(parents=True)
        (self.root / 'a/license.go').write_text('package a')
        for folder, says in ('a/inner', 'example.org/bare v1 is linked'), ('b', 'not in the folder of its module'):
            with self.assertRaisesRegex(SystemExit, says):
                self.notices(f'example.org/bare v1\t{self.root}/a\t{self.root}/{folder}')

    def test_each_text_stands_once_below_all_it_is_for(self):
        for path, text in {'LICENSE': 'The licence of Go.', 'a/LICENSE.md': 'Do as you\nlike.\n',
                           'a/inner/NOTICE': 'By A.', 'b/COPYING': '\ufeffDo as  you\r\nlike.'}.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, newline='')
        page = self.notices(*(f'example.org/{name} v1\t{self.root}/{name}\t{self.root}/{path}' for name, path in (
            ('b', 'b'), ('a', 'a/inner'))))
        self.assertEqual(page.count('Do as'), 1)
        self.assertIn('example.org/a v1 (LICENSE.md)\nexample.org/b v1 (COPYING)\n\nDo as you\nlike.\n', page)
        self.assertIn('example.org/a v1 (inner/NOTICE)\n\nBy A.\n', page)
