#!/usr/bin/env python3
"""Packs what goreleaser does not. Every file in a package has the commit's time, SOURCE_DATE_EPOCH.

pack.py notices FILE                     licences of everything that is linked into the program or embedded in it
pack.py bill PROGRAM VERSION FILE        likewise as a bill of materials (CycloneDX)
pack.py model FOLDER FILE                the sentence model
pack.py packages DIST VERSION REPOSITORY programs of DIST as packages for npm and PyPI, and bundles for chat programs
"""
import base64, gzip, hashlib, io, json, os, re, subprocess, sys, tarfile, time, zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EPOCH = int(os.environ.get('SOURCE_DATE_EPOCH') or sys.exit('SOURCE_DATE_EPOCH is needed: the seconds of the commit'))
NOTICES = ROOT / '.cache/release/THIRD-PARTY-NOTICES.txt'
SUMMARY = 'Answers questions from your own documents, with footnotes that open the source at the very words'
# Go's names of a platform, Node's, and the tags of a wheel. Linux needs no C library; Go 1.26 requires macOS 12.
LINUX = 'manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}'
PLATFORMS = [
    ('darwin', 'amd64', 'darwin', 'x64', 'macosx_12_0_x86_64'),
    ('darwin', 'arm64', 'darwin', 'arm64', 'macosx_12_0_arm64'),
    ('linux', 'amd64', 'linux', 'x64', LINUX.format('x86_64')),
    ('linux', 'arm64', 'linux', 'arm64', LINUX.format('aarch64')),
    ('windows', 'amd64', 'win32', 'x64', 'win_amd64'),
    ('windows', 'arm64', 'win32', 'arm64', 'win_arm64'),
]


def go(*args, **env):
    env = {**os.environ, **env}
    return subprocess.run(['go', *args], cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout


# Prints the module, its folder and the package's, of packages outside this repository.
LINKED = ('{{with .Module}}{{if not (or .Main (and .Replace (not .Replace.Version)))}}'
          '{{.Path}} {{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}')


def licences(top, folder):
    """The licence files of a Go package: in its folder and each above, up to its module's."""
    if folder != top and top not in folder.parents:
        sys.exit(f'{folder} is not in the folder of its module, {top}')
    found = {}
    for place in [folder, *folder.parents]:
        for file in place.iterdir():
            if file.is_file() and not file.name.endswith('.go') and re.fullmatch(
                    r'(licen[cs]e|copying|copyright|notice|patents|unlicense)([.-].*)?', file.name, re.I):
                found[str(file.relative_to(top))] = file.read_text('utf-8-sig', 'replace')
        if place == top:
            return found


def embedded():
    """The parts that are embedded in the program: their name, version, if any, and licence. The page's are from npm."""
    lock = json.loads((ROOT / 'package-lock.json').read_text())['packages']
    for name in '@fontsource/noto-sans-math', 'htmx.org', 'temml':
        yield name, lock[f'node_modules/{name}']['version'], ROOT / 'node_modules' / name / 'LICENSE'
    yield 'PDFium, and what it is built with', '', ROOT / 'deploy/release/pdfium-licences.txt'


def bill(program, version, out):
    """Lists what is linked into a program. cyclonedx-gomod does not see what is embedded."""
    subprocess.run(['cyclonedx-gomod-1.10.0', 'bin', '-json', '-std', '-noserial', '-notimestamp', '-version', version,
                    '-output', out, program], check=True)
    made = json.loads(out.read_text())
    made['metadata']['timestamp'] = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(EPOCH))
    for name, number, _ in embedded():
        purl = {'version': number, 'purl': f'pkg:npm/{name.replace("@", "%40")}@{number}'} if number else {}
        made['components'].append({'type': 'library', 'name': name, **purl})
    out.write_text(json.dumps(made, indent=2) + '\n')


def notices(out):
    """Lists every module that is linked on any platform and every embedded part, then each text once."""
    parts = {}
    for system, processor, *_ in PLATFORMS:
        for line in go('list', '-deps', '-tags=grpcnotrace,retrynotrace', '-f', LINKED, './cmd/footnote',
                       GOOS=system, GOARCH=processor, CGO_ENABLED='0').split('\n'):
            if line:
                name, top, folder = line.split('\t')
                parts.setdefault(name, {}).update(licences(Path(top), Path(folder)))
    parts = dict(sorted(parts.items()))
    for name, texts in parts.items():
        if name.startswith('github.com/milvus-io/milvus-proto/'):  # its licence is above the module's folder
            texts['Apache-2.0'] = (ROOT / 'deploy/release/apache-2.0.txt').read_text()
        if not texts:
            sys.exit(f'{name} is linked, and its folder has no licence')
    goroot, version = go('env', 'GOROOT', 'GOVERSION').split()
    # Distributions may keep the licence outside GOROOT.
    texts = [(name, Path(folder, name).read_text()) for folder in ('/usr/share/doc/golang', goroot)
             for name in ('LICENSE', 'PATENTS') if Path(folder, name).exists()]
    parts[f'Go, its runtime and standard library {version}'] = dict(texts) or sys.exit(f'{goroot} has no LICENSE')
    for name, version, file in embedded():
        parts[f'{name} {version}'.strip()] = {file.name: file.read_text()}
    same = {}  # text without its white space: the names above it, and the text
    for name, texts in parts.items():
        for file, text in sorted(texts.items()):
            same.setdefault(' '.join(text.split()), ([], text))[0].append(f'{name} ({file})')
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(
        'Footnote is made with the work of others, named here with their licences.\n'
        'Each text stands once, below the names of all that it is the licence of.\n\n'
        + ''.join(f'  {name}\n' for name in parts) + ''.join('\n{}\n{}\n\n{}\n'.format(
            '=' * 79, '\n'.join(names), text.strip('\n')) for names, text in same.values()))


def tarball(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, 'wb') as out, gzip.GzipFile('', 'wb', 9, out, 0) as packed, tarfile.open(
            fileobj=packed, mode='w', format=tarfile.USTAR_FORMAT) as archive:
        for name, content, mode in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(content), mode, EPOCH
            archive.addfile(entry, io.BytesIO(content))


def zipped(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)


def model(folder, out):
    files = [(f'{folder.name}/{f.relative_to(folder)}', f.read_bytes(), 0o644) for f in sorted(folder.rglob('*'))
             if f.is_file() and f.name != '.gitattributes'] or sys.exit(f'{folder} is empty')
    tarball(out, files + [(f'{folder.name}/LICENSE.txt', (ROOT / 'deploy/release/apache-2.0.txt').read_bytes(), 0o644)])


def python_version(version):
    """A semantic version as PEP 440 writes it. Another suffix than alpha, beta and rc is a development version."""
    number, _, before = version.partition('+')[0].partition('-')
    preview = re.fullmatch(r'(alpha|beta|rc)\.?(\d+)', before)
    if preview:
        return number + {'alpha': 'a', 'beta': 'b', 'rc': 'rc'}[preview[1]] + preview[2]
    return number + (before and '.dev0+' + re.sub('[^a-z0-9]+', '.', before.lower()))


def packages(dist, version, repository):
    home = f'https://{repository}'
    with_all = [(f.name, f.read_bytes(), 0o644) for f in (ROOT / 'LICENSE', NOTICES)]

    def readme(command):
        return f'# Footnote\n\n{SUMMARY}.\n\n    {command} up ~/papers\n\nMore: {home}\n'

    def npm(name, contents, **fields):
        manifest = {'name': name, 'version': version, 'description': SUMMARY, 'license': 'MIT', 'homepage': home,
                    'repository': {'type': 'git', 'url': f'git+{home}.git'}, **fields}
        tarball(dist / 'npm' / f'{name.replace("@", "").replace("/", "-")}-{version}.tgz', [
            (f'package/{name}', content, mode) for name, content, mode in
            [('package.json', json.dumps(manifest, indent=2).encode(), 0o644), *with_all, *contents]])

    built = {(a['goos'], a['goarch']): ROOT / a['path'] for a in json.loads((dist / 'artifacts.json').read_text())
             if a['type'] == 'Binary'}
    optional = {}
    for system, processor, node, cpu, tags in PLATFORMS:
        file = 'footnote.exe' if system == 'windows' else 'footnote'
        program = built[system, processor].read_bytes() or sys.exit(f'{built[system, processor]} is empty')
        # npm skips the packages for others. Yarn unpacks it, as a program can't start inside an archive.
        npm(f'@footnote/{node}-{cpu}', [(file, program, 0o755)], os=[node], cpu=[cpu], files=[file],
            preferUnplugged=True)
        optional[f'@footnote/{node}-{cpu}'] = version
        # Installers copy the wheel's scripts unchanged to the directory of commands: no Python runs at the start.
        name = f'footnote-{python_version(version)}'
        info = f'{name}.dist-info'
        wheel = [(f'{name}.data/scripts/{file}', program, 0o755)] + [
            (f'{info}/licenses/{n}', content, mode) for n, content, mode in with_all] + [
            (f'{info}/METADATA', '\n'.join([
                'Metadata-Version: 2.4', 'Name: footnote', f'Version: {python_version(version)}', f'Summary: {SUMMARY}',
                'License-Expression: MIT', f'Project-URL: Homepage, {home}', 'Requires-Python: >=3.8',
                *(f'License-File: {n}' for n, *_ in with_all), 'Description-Content-Type: text/markdown', '',
                readme('uvx footnote')]).encode(), 0o644),
            (f'{info}/WHEEL', 'Wheel-Version: 1.0\nGenerator: footnote\nRoot-Is-Purelib: false\n{}'.format(
                ''.join(f'Tag: py3-none-{tag}\n' for tag in tags.split('.'))).encode(), 0o644)]
        record = ''.join('{},sha256={},{}\n'.format(n, base64.urlsafe_b64encode(hashlib.sha256(content).digest())
                                                    .decode().rstrip('='), len(content)) for n, content, _ in wheel)
        zipped(dist / 'pypi' / f'{name}-py3-none-{tags}.whl', wheel + [
            (f'{info}/RECORD', f'{record}{info}/RECORD,,\n'.encode(), 0o644)])
        manifest = json.loads((ROOT / 'deploy/release/bundle.json').read_text())
        manifest |= {'version': version, 'description': SUMMARY, 'homepage': home, 'license': 'MIT',
                     'compatibility': {'platforms': [node]}, 'repository': {'type': 'git', 'url': f'{home}.git'},
                     'author': {'name': 'The authors of Footnote', 'url': home}}
        manifest['server']['entry_point'] = file
        manifest['server']['mcp_config']['command'] = '${__dirname}/' + file
        zipped(dist / 'mcpb' / f'footnote-{version}-{node}-{cpu}.mcpb', [
            ('manifest.json', json.dumps(manifest, indent=2).encode(), 0o644), (file, program, 0o755), *with_all])
    launcher = (ROOT / 'deploy/release/launcher.cjs').read_bytes()
    npm('footnote', [('README.md', readme('npx footnote').encode(), 0o644), ('launcher.cjs', launcher, 0o755)],
        bin={'footnote': 'launcher.cjs'}, files=['launcher.cjs'], engines={'node': '>=18'},
        optionalDependencies=optional)


if __name__ == '__main__':
    match sys.argv[1:]:
        case 'notices', out:
            notices(Path(out))
        case 'bill', program, version, out:
            bill(program, version, Path(out))
        case 'model', folder, out:
            model(Path(folder), Path(out))
        case 'packages', dist, version, repository if version and repository:
            packages(Path(dist), version, repository)
        case _:
            sys.exit(__doc__)
