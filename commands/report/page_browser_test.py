#!/usr/bin/env python3
"""Opens pages of 'ringscope report' in headless Chromium, and uses them as readers do.

  page_browser_test.py RINGSCOPE TESTDATA [--shots FOLDER]

Ends with status 77, which ctest takes as skipped, where chromium or chromedriver is missing. With
--shots it leaves pictures of the pages in a folder. Needs nothing but Python's own library: it
speaks WebDriver with chromedriver over HTTP.
"""

import argparse
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

SKIPPED = 77
LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever the environment has
HOSTILE = [
    '<script>window.broken=1</script>',
    '"><img src=x onerror="window.broken=1">',
    "'; alert(1) //",
    '\u202egnp.exe\u2066',
    '</title></style></textarea><svg onload=window.broken=1>',
    'x' * 5000,
]

# Of every text that is shown, the contrast with what is behind it; those below 4.5 are returned.
CONTRAST = r"""
const parse = (text) => {
  let found = text.match(/^rgba?\(([^)]+)\)$/);
  if (found) {
    const parts = found[1].split(/[ ,\/]+/).map(Number);
    return [parts[0], parts[1], parts[2], parts.length > 3 ? parts[3] : 1];
  }
  found = text.match(/^color\(srgb ([^)]+)\)$/);
  if (found) {
    const parts = found[1].split(/[ \/]+/).map(Number);
    return [parts[0] * 255, parts[1] * 255, parts[2] * 255, parts.length > 3 ? parts[3] : 1];
  }
  throw new Error('colour ' + text);
};
const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
const light = (colour) => {
  const linear = colour.slice(0, 3).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const contrast = (a, b) => {
  const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};
const behind = (element) => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    const colour = parse(getComputedStyle(at).backgroundColor);
    layers.push(colour);
    if (colour[3] === 1) break;
  }
  return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
};
const root = getComputedStyle(document.documentElement);
const tone = (name) => {
  const hex = root.getPropertyValue('--' + name).trim();
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).concat(1);
};
const bad = [];
let checked = 0;
for (const element of document.body.querySelectorAll('*')) {
  if (['SCRIPT', 'STYLE'].includes(element.tagName)) continue;
  if (element.closest('title')) continue;
  const text = [...element.childNodes].filter((n) => n.nodeType === 3)
      .map((n) => n.data.trim()).join('');
  if (!text || !element.getClientRects().length) continue;
  const style = getComputedStyle(element);
  if (style.visibility !== 'visible') continue;
  const isPicture = element.ownerSVGElement;
  const colour = parse(isPicture ? style.fill : style.color);
  const grounds = isPicture ? [tone('page'), tone('card')] : [behind(element)];
  for (const ground of grounds) {
    ++checked;
    const found = contrast(over(colour, ground), ground);
    if (found < 4.5) bad.push(`${element.tagName} "${text.slice(0, 40)}": ${found.toFixed(2)}`);
  }
}
return {checked, bad: [...new Set(bad)]};
"""

# What a screen reader relies on.
STRUCTURE = r"""
const wrong = [];
const all = (selector) => [...document.querySelectorAll(selector)];
let level = 0;
for (const heading of all('h1,h2,h3,h4,h5,h6')) {
  const now = Number(heading.tagName[1]);
  if (now > level + 1) wrong.push(`h${now} after h${level}: ${heading.textContent}`);
  level = now;
}
if (all('h1').length !== 1) wrong.push('h1 is not there once');
for (const name of ['header', 'nav', 'main', 'footer'])
  if (all('body > ' + name).length !== 1) wrong.push(`${name} is not there once`);
for (const nav of all('nav a'))
  if (!document.querySelector(nav.getAttribute('href'))) wrong.push(`dead link ${nav.href}`);
const ids = all('[id]').map((element) => element.id);
if (new Set(ids).size !== ids.length) wrong.push('ids are not unique');
for (const table of all('table')) {
  if (!table.caption || !table.caption.textContent) wrong.push('table without caption');
  for (const cell of table.querySelectorAll('th'))
    if (!['col', 'row'].includes(cell.scope)) wrong.push(`th without scope: ${cell.textContent}`);
}
for (const svg of all('svg')) {
  if (svg.getAttribute('role') !== 'img') wrong.push('svg without role=img');
  if (!svg.firstElementChild || svg.firstElementChild.tagName !== 'title' ||
      !svg.firstElementChild.textContent) wrong.push('svg without title');
}
for (const field of all('input,select'))
  if (!field.labels.length) wrong.push(`no label: ${field.name}`);
for (const section of all('section'))
  if (!document.getElementById(section.getAttribute('aria-labelledby')))
    wrong.push(`section without name: ${section.id}`);
for (const element of all('*'))
  for (const attribute of element.attributes)
    if (attribute.name.startsWith('on') || attribute.name === 'style' && !element.closest('.charts'))
      wrong.push(`${element.tagName} has ${attribute.name}`);
return wrong;
"""


class Browser:
    """A headless Chromium with a page of its own."""

    def __init__(self, script=True):
        self.folder = tempfile.mkdtemp(prefix='ringscope-chromium-')
        self.log = open(os.path.join(self.folder, 'driver.log'), 'w+', encoding='utf-8')
        self.driver = subprocess.Popen(
            ['chromedriver', '--port=0'], stdout=self.log, stderr=subprocess.STDOUT)
        self.port = self.wait_for_port()
        flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                 '--hide-scrollbars', f'--user-data-dir={self.folder}/profile']
        options = {'args': flags, 'binary': shutil.which('chromium')}
        if not script:
            options['prefs'] = {'profile.managed_default_content_settings.javascript': 2}
        capabilities = {'browserName': 'chrome', 'goog:chromeOptions': options,
                        'goog:loggingPrefs': {'browser': 'ALL'}}
        self.session = ''
        self.session = self.call('POST', 'session', {
            'capabilities': {'alwaysMatch': capabilities}})['sessionId']

    def wait_for_port(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.driver.poll() is None:
            self.log.flush()
            found = re.search(r'successfully on port (\d+)', Path(self.log.name).read_text(encoding='utf-8'))
            if found:
                return int(found[1])
            time.sleep(0.05)
        raise RuntimeError('chromedriver does not start: ' + Path(self.log.name).read_text())

    def call(self, method, command, body=None):
        path = command if command == 'session' else f'session/{self.session}/{command}'
        request = urllib.request.Request(
            f'http://127.0.0.1:{self.port}/{path.rstrip("/")}', method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={'Content-Type': 'application/json'})
        try:
            with LOCAL.open(request, timeout=300) as reply:
                return json.load(reply)['value']
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from None

    def open(self, path):
        self.call('POST', 'url', {'url': Path(path).absolute().as_uri()})

    def run(self, script, *arguments):
        return self.call('POST', 'execute/sync', {'script': script, 'args': list(arguments)})

    def devtools(self, command, **parameters):
        return self.call('POST', 'goog/cdp/execute', {'cmd': command, 'params': parameters})

    def media(self, scheme='light', media=''):
        self.devtools('Emulation.setEmulatedMedia', media=media,
                      features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def keys(self, *keys):
        actions = [{'type': kind, 'value': key} for key in keys for kind in ('keyDown', 'keyUp')]
        self.call('POST', 'actions', {
            'actions': [{'type': 'key', 'id': 'keyboard', 'actions': actions}]})

    def messages(self):
        return [entry['message'] for entry in self.call('POST', 'se/log', {'type': 'browser'})]

    def size(self, width, height):
        self.devtools('Emulation.setDeviceMetricsOverride', width=width, height=height,
                      deviceScaleFactor=1, mobile=width < 600)

    def shoot(self, path):
        shot = self.devtools('Page.captureScreenshot', format='png', captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(shot['data']))

    def paper(self, path):
        pdf = self.devtools('Page.printToPDF', printBackground=False, paperWidth=8.27,
                            paperHeight=11.69)
        Path(path).write_bytes(base64.b64decode(pdf['data']))

    def close(self):
        try:
            if self.session:
                self.call('DELETE', '')
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.log.close()
            shutil.rmtree(self.folder, ignore_errors=True)


def hostile_log():
    """A log whose names all want to be something else; its buffer is too small."""
    lines = [{'op': 'header', 'format_version': 1, 'tool': HOSTILE[0], 'host': HOSTILE[1],
              'description': HOSTILE[4]},
             {'op': 'buffer', 'id': 1, 'size': 4096, 'policy': 'ring_buffer'}]
    time_ns = 1_000_000_000
    # TraceConfig's unique_session_name.
    name = HOSTILE[0].encode()
    lines.append({'op': 'config', 'config': (bytes([0xb2, 1, len(name)]) + name).hex()})
    for producer, name in enumerate(HOSTILE, 1):
        lines.append({'op': 'producer', 'producer': producer, 'name': name, 'uid': 1, 'pid': 2,
                      'sdk': name[:100], 'ts': time_ns})
        lines.append({'op': 'data_source', 'producer': producer, 'name': name})
        lines.append({'op': 'data_source_setup', 'producer': producer, 'instance': producer,
                      'name': name, 'buffer': 1})
    # Packets of 20 bytes that the service takes: a varint field, again and again.
    payload = (bytes([20]) + b'h' * 20) * 10
    for chunk in range(40):
        for producer in range(1, len(HOSTILE) + 1):
            time_ns += 1_000_000
            lines.append({'op': 'commit', 'buffer': 1, 'producer': producer, 'writer': 1,
                          'chunk': chunk, 'fragments': 10, 'payload': payload.hex(),
                          'ts': time_ns})
    lines.append({'op': 'read', 'buffer': 1, 'ts': time_ns + 1})
    return '\n'.join(json.dumps(line) for line in lines) + '\n'


class PageTest(unittest.TestCase):
    ringscope = testdata = shots = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='ringscope-page-')
        cls.page = cls.make(cls.testdata / 'captures/ring-v2/session.ops.jsonl.zst', 'page.html')
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.folder)

    @classmethod
    def make(cls, log, name):
        page = os.path.join(cls.folder, name)
        done = subprocess.run([cls.ringscope, '-q', 'report', str(log), '-o', page],
                              capture_output=True, text=True, check=False)
        assert done.returncode in (0, 3), done.stderr
        return page

    def setUp(self):
        self.browser.media()
        self.browser.size(1250, 900)
        self.browser.messages()
        self.browser.open(self.page)

    def shoot(self, name):
        if self.shots:
            self.browser.shoot(os.path.join(self.shots, name + '.png'))

    def column(self, table, column):
        return self.browser.run(
            "return [...document.querySelectorAll(arguments[0] + ' tbody > tr:first-child')]"
            ".filter((row) => row.offsetParent).map((row) => row.cells[arguments[1]].textContent)",
            table, column)

    def test_console_has_no_messages(self):
        self.assertEqual(self.browser.messages(), [])

    def test_structure_is_what_screen_readers_rely_on(self):
        self.assertEqual(self.browser.run(STRUCTURE), [])

    def test_texts_have_contrast_in_both_schemes(self):
        self.browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        for scheme in ('light', 'dark'):
            self.browser.media(scheme)
            result = self.browser.run(CONTRAST)
            self.assertGreater(result['checked'], 300)
            self.assertEqual(result['bad'], [], scheme)
            self.shoot(scheme + '-open')

    def test_colours_follow_the_system_and_the_button(self):
        ground = lambda: self.browser.run(
            'return getComputedStyle(document.body).backgroundColor')
        light = ground()
        self.browser.media('dark')
        dark = ground()
        self.assertNotEqual(light, dark)
        press = lambda: self.browser.run("document.getElementById('colours').click()")
        press()
        self.assertEqual(ground(), light)
        press()
        self.assertEqual(ground(), dark)
        self.browser.media('light')
        self.assertEqual(ground(), dark)
        press()
        self.assertEqual(ground(), light)

    def test_tables_are_sorted_by_their_headings(self):
        packets = lambda: [int(text.replace(',', '')) for text in self.column('#gap-table', 3)]
        heading = lambda attribute: self.browser.run(
            "return document.querySelectorAll('#gap-table th')[3].getAttribute(arguments[0])",
            attribute)
        press = lambda column: self.browser.run(
            "document.querySelectorAll('#gap-table thead th button')[arguments[0]].click()", column)
        self.assertIsNone(heading('aria-sort'))
        self.assertEqual(packets(), sorted(packets(), reverse=True))
        press(3)
        self.assertEqual(heading('aria-sort'), 'descending')
        press(3)
        self.assertEqual(heading('aria-sort'), 'ascending')
        self.assertEqual(packets(), sorted(packets()))
        press(0)
        self.assertIsNone(heading('aria-sort'))
        names = self.column('#gap-table', 0)
        self.assertEqual(names, sorted(names))
        # Details stay with their gap.
        self.assertEqual(
            self.browser.run("return [...document.querySelectorAll('#gap-table tbody')].every("
                             "(body) => body.rows.length === 2 && body.querySelector('.more code')"
                             ".textContent.includes(body.rows[0].cells[0].textContent.split(' ')[0]))"),
            True)

    def test_gaps_are_filtered(self):
        enter = lambda name, value: self.browser.run(
            "const field = document.getElementById('gap-filter').elements[arguments[0]];"
            "field.value = arguments[1]; field.dispatchEvent(new Event('input', {bubbles: true}));",
            name, value)
        said = lambda: self.browser.run(
            "return document.querySelector('#gap-filter output').textContent")
        everything = len(self.column('#gap-table', 0))
        self.assertEqual(said(), f'{everything} of {everything} gaps shown')
        enter('text', '1:4')
        self.assertLess(0, len(self.column('#gap-table', 0)))
        enter('text', 'no such text')
        self.assertEqual(self.column('#gap-table', 0), [])
        self.assertEqual(said(), f'0 of {everything} gaps shown')
        enter('text', '')
        enter('least', '4000')
        left = [int(text.replace(',', '')) for text in self.column('#gap-table', 3)]
        self.assertTrue(left and min(left) >= 4000 and len(left) < everything, left)
        self.browser.run("document.querySelector('#gap-filter [type=reset]').click()")
        self.assertEqual(
            self.browser.run("return new Promise((done) => setTimeout(() => done("
                             "document.querySelector('#gap-filter output').textContent), 50))"),
            f'{everything} of {everything} gaps shown')

    def test_charts_zoom_together(self):
        state = lambda: self.browser.run(
            "return {boxes: [...document.querySelectorAll('.chart')].map((svg) => "
            "svg.getAttribute('viewBox')), said: document.querySelector('.zoom output').textContent,"
            "sum: document.querySelector('.lane-sum').textContent}")
        press = lambda action: self.browser.run(
            "document.querySelector(`[data-zoom=${arguments[0]}]`).click()", action)
        whole = state()
        self.assertEqual(set(whole['boxes']), {'0 0 480 100'})
        press('in')
        half = state()
        self.assertEqual(set(half['boxes']), {'120 0 240 100'})
        self.assertNotEqual(half['said'], whole['said'])
        self.assertIn('in this part', half['sum'])
        press('right')
        self.assertEqual(set(state()['boxes']), {'240 0 240 100'})
        # All parts together are the whole.
        count = lambda text: int(text.split(' ')[0].replace(',', ''))
        right = count(state()['sum'])
        press('left')
        press('left')
        self.assertEqual(count(state()['sum']) + right, count(whole['sum']))
        press('all')
        self.assertEqual(state(), whole)
        box = self.browser.run(
            "const svg = document.querySelector('.chart'); svg.scrollIntoView({block: 'center'});"
            "const box = svg.getBoundingClientRect(); return [box.left, box.top, box.width];")
        y = int(box[1] + 20)
        self.browser.call('POST', 'actions', {'actions': [{
            'type': 'pointer', 'id': 'mouse', 'parameters': {'pointerType': 'mouse'}, 'actions': [
                {'type': 'pointerMove', 'x': int(box[0] + box[2] / 4), 'y': y, 'duration': 0},
                {'type': 'pointerDown', 'button': 0},
                {'type': 'pointerMove', 'x': int(box[0] + box[2] / 2), 'y': y, 'duration': 50},
                {'type': 'pointerUp', 'button': 0}]}]})
        dragged = state()['boxes'][0].split(' ')
        self.assertAlmostEqual(int(dragged[0]), 120, delta=2)
        self.assertAlmostEqual(int(dragged[2]), 120, delta=3)
        self.assertEqual(self.browser.messages(), [])

    def test_keyboard_reaches_every_control_and_shows_where_it_is(self):
        controls = self.browser.run(
            "window.controls = [...document.querySelectorAll('a[href], button:not(:disabled), input,"
            " select, summary, [tabindex=\"0\"]')].filter((e) => e.checkVisibility());"
            "document.body.focus(); return window.controls.length")
        self.assertGreater(controls, 40)
        reached = set()
        for _ in range(controls + 20):
            self.browser.keys('\ue004')
            at, outline = self.browser.run(
                "const at = document.activeElement; return [window.controls.indexOf(at),"
                "getComputedStyle(at).outlineStyle]")
            if at >= 0:
                self.assertEqual(outline, 'solid', f'control {at}')
            reached.add(at)
        missing = self.browser.run(
            "return window.controls.filter((e, i) => !arguments[0].includes(i))"
            ".map((e) => e.outerHTML.slice(0, 120))", sorted(reached))
        self.assertEqual(missing, [])
        # A heading sorts by the keyboard, and keeps the focus.
        self.browser.run("document.querySelectorAll('#gap-table thead button')[3].focus()")
        self.browser.keys('\ue007')
        self.assertEqual(
            self.browser.run("return [document.activeElement.textContent, "
                             "document.activeElement.parentElement.getAttribute('aria-sort')]"),
            ['packets', 'descending'])
        self.browser.run("document.querySelector('#gap-table summary').focus()")
        self.browser.keys('\ue007')
        self.assertTrue(self.browser.run("return document.querySelector('#gap-table details').open"))

    def test_narrow_screen_scrolls_tables_and_not_the_page(self):
        self.browser.size(380, 800)
        width = self.browser.run('return document.documentElement.scrollWidth')
        self.shoot('narrow')
        self.assertLessEqual(width, 380)

    def test_paper_has_all_that_is_folded(self):
        self.browser.media('dark', 'print')
        folded = self.browser.run(
            "return [...document.querySelectorAll('details')].filter((d) => "
            "!d.lastElementChild.getClientRects().length).length")
        self.assertEqual(folded, 0)
        # Also where the reader prefers dark.
        self.assertEqual(self.browser.run(
            'return getComputedStyle(document.body).backgroundColor'), 'rgb(255, 255, 255)')
        self.assertEqual(self.browser.run(
            "return getComputedStyle(document.querySelector('nav')).display"), 'none')
        if self.shots:
            self.browser.paper(os.path.join(self.shots, 'paper.pdf'))

    def test_page_can_be_read_without_javascript(self):
        # What only JavaScript can use is not shown.
        plain = Browser(script=False)
        try:
            plain.open(self.page)
            state = plain.run(
                "return {words: document.body.innerText, controls: [...document.querySelectorAll("
                "'button, input, select')].filter((e) => e.checkVisibility()).length,"
                "charts: document.querySelectorAll('.chart path').length,"
                "sorts: document.querySelectorAll('[aria-sort], th button').length}")
            for needed in ('packets (96.2%)', 'overwritten before they were read', 'What would help'):
                self.assertIn(needed, state['words'])
            self.assertEqual(state['controls'], 0)
            self.assertEqual(state['sorts'], 0)
            self.assertGreater(state['charts'], 3)
            if self.shots:
                plain.size(1250, 900)
                plain.shoot(os.path.join(self.shots, 'plain.png'))
        finally:
            plain.close()

    def test_hostile_names_are_only_text(self):
        log = os.path.join(self.folder, 'a"><b>&.ops.jsonl')
        Path(log).write_text(hostile_log(), encoding='utf-8')
        self.browser.open(self.make(log, 'hostile.html'))
        self.assertIsNone(self.browser.run('return window.broken ?? null'))
        self.assertEqual(self.browser.messages(), [])
        self.assertEqual(self.browser.run(STRUCTURE), [])
        self.assertEqual(self.browser.run(
            "return [document.querySelectorAll('script').length, document.querySelectorAll('b, img')"
            ".length]"), [1, 0])
        self.assertIn(HOSTILE[4][:30], self.browser.run('return document.body.textContent'))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('ringscope')
    parser.add_argument('testdata', type=Path)
    parser.add_argument('--shots')
    arguments, rest = parser.parse_known_args()
    for program in ('chromium', 'chromedriver'):
        if not shutil.which(program):
            print(f'skipped: {program} is not installed (scripts/setup installs it)')
            sys.exit(SKIPPED)
    PageTest.ringscope = os.path.abspath(arguments.ringscope)
    PageTest.testdata = arguments.testdata
    PageTest.shots = arguments.shots
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == '__main__':
    main()
