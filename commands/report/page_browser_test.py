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

    def messages(self):
        return [entry['message'] for entry in self.call('POST', 'se/log', {'type': 'browser'})]

    def size(self, width, height):
        self.devtools('Emulation.setDeviceMetricsOverride', width=width, height=height,
                      deviceScaleFactor=1, mobile=width < 600)

    def shoot(self, path):
        shot = self.devtools('Page.captureScreenshot', format='png', captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(shot['data']))

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
            "return [...document.querySelectorAll(arguments[0] + ' tbody > tr')]"
            ".map((row) => row.cells[arguments[1]].textContent)",
            table, column)

    def test_console_has_no_messages(self):
        self.assertEqual(self.browser.messages(), [])

    def test_texts_have_contrast_in_both_schemes(self):
        for scheme in ('light', 'dark'):
            self.browser.media(scheme)
            result = self.browser.run(CONTRAST)
            self.assertGreater(result['checked'], 100)
            self.assertEqual(result['bad'], [], scheme)
            self.shoot(scheme + '-open')

    def test_changes_lead_to_their_findings(self):
        missing = self.browser.run(
            "return [...document.querySelectorAll('#changes a')].map((link) => link.hash)"
            ".filter((hash) => !document.querySelector(hash.replace('.', '\\\\.')))")
        self.assertEqual(missing, [])
        self.assertGreater(self.browser.run("return document.querySelectorAll('#changes a').length"), 0)
        marked = self.browser.run(
            "return [...document.querySelectorAll('#config mark')].map((line) => line.textContent.trim())")
        self.assertIn('size_kb: 8192', marked)
        self.assertNotIn('fill_policy: RING_BUFFER', marked)

    def test_tables_are_sorted_by_their_headings(self):
        packets = lambda: [int(text.replace(',', '')) for text in self.column('#largest', 2)]
        press = lambda: self.browser.run(
            "document.querySelectorAll('#largest thead th button')[2].click()")
        press()
        self.assertGreater(len(packets()), 2)
        self.assertEqual(packets(), sorted(packets(), reverse=True))
        press()
        self.assertEqual(packets(), sorted(packets()))

    def test_gaps_are_filtered(self):
        enter = lambda value: self.browser.run(
            "const field = document.querySelector('#largest input'); field.value = arguments[0];"
            "field.dispatchEvent(new Event('input', {bubbles: true}));", value)
        everything = self.column('#largest', 0)
        enter(everything[0])
        self.assertTrue(0 < len(self.column('#largest', 0)) <= len(everything))
        enter('no such text')
        self.assertEqual(self.column('#largest', 0), [])
        enter('')
        self.assertEqual(self.column('#largest', 0), everything)

    def test_narrow_screen_does_not_scroll_sideways(self):
        self.browser.size(380, 800)
        width = self.browser.run('return document.documentElement.scrollWidth')
        self.shoot('narrow')
        self.assertLessEqual(width, 380)
        tables = self.browser.run(
            "return [...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).length")
        self.assertEqual(tables, 0)

    def test_texts_of_charts_have_eleven_pixels_on_a_narrow_screen(self):
        self.browser.size(400, 800)
        self.browser.open(self.page)
        heights = self.browser.run(
            "return [...document.querySelectorAll('#sizes svg text')].map((text) => "
            "parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
            ".concat([...document.querySelectorAll('.timeline span')].map((text) => "
            "parseFloat(getComputedStyle(text).fontSize)))")
        self.assertGreater(len(heights), 15)
        self.assertGreaterEqual(min(heights), 11)

    def test_chart_of_sizes_reaches_the_advised_size_and_marks_the_present_one(self):
        texts = self.browser.run(
            "return [...document.querySelectorAll('#sizes svg text')].map((text) => text.textContent)")
        self.assertIn('256\u00a0KiB now', texts)
        self.assertIn('8\u00a0MiB advised', texts)

    def test_changes_have_the_present_and_the_new_value(self):
        self.assertIn('256 (256\u00a0KiB)', self.column('#changes', 1))
        self.assertIn('8192 (8\u00a0MiB)', self.column('#changes', 2))

    def test_no_line_is_broken_between_a_number_and_its_unit(self):
        broken = self.browser.run(
            "return document.querySelector('main').innerText.match(/\\d (ms|s|KiB|MiB)\\b/g)")
        self.assertIsNone(broken)

    def test_page_can_be_read_without_javascript(self):
        plain = Browser(script=False)
        try:
            plain.open(self.page)
            words = plain.run('return document.body.innerText')
            for needed in ('96.2%', 'overwritten', 'Largest gaps'):
                self.assertIn(needed, words)
            self.assertGreater(plain.run(
                "return document.querySelectorAll('.timeline svg rect').length"), 50)
            self.assertEqual(plain.run(
                "return document.querySelectorAll('button, input').length"), 0)
        finally:
            plain.close()

    def test_hostile_names_are_only_text(self):
        log = os.path.join(self.folder, 'a"><b>&.ops.jsonl')
        Path(log).write_text(hostile_log(), encoding='utf-8')
        self.browser.open(self.make(log, 'hostile.html'))
        self.assertIsNone(self.browser.run('return window.broken ?? null'))
        self.assertEqual(self.browser.messages(), [])
        self.assertEqual(self.browser.run(
            "return [document.querySelectorAll('script').length, document.querySelectorAll('b, img')"
            ".length]"), [2, 0])
        self.assertIn(HOSTILE[0], self.browser.run('return document.querySelector("main").textContent'))


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
