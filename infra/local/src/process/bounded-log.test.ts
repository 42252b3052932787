import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLog } from './bounded-log.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-log-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('appends, and is readable by its owner only', () => {
  const path = join(directory, 'logs', 'a.log');
  openLog(path).write('one\n');
  openLog(path).write('two\n');
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  expect(statSync(path).mode & 0o077).toBe(0);
});

test('keeps at most two files of bounded size', () => {
  const path = join(directory, 'a.log');
  const log = openLog(path, 100);
  for (let index = 0; index < 100; index += 1) log.write(`line ${String(index).padStart(3, '0')}\n`);
  expect(statSync(path).size + statSync(`${path}.1`).size).toBeLessThanOrEqual(2 * 109);
  expect(readFileSync(path, 'utf8')).toMatch(/line 099\n$/);
  log.close();
  log.write('too late');
});
