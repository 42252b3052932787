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

test('appends, answers the last lines, and is for its owner alone', () => {
  const path = join(directory, 'logs', 'a.log');
  openLog(path).write('one\n');
  const log = openLog(path);
  log.write('two\nthree\n');
  expect(log.lastLines(2)).toEqual(['two', 'three']);
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\n');
  expect(statSync(path).mode & 0o077).toBe(0);
});

test('keeps at most two pieces of bounded size', () => {
  const path = join(directory, 'a.log');
  const log = openLog(path, 100);
  for (let index = 0; index < 100; index += 1) log.write(`line ${String(index).padStart(3, '0')}\n`);
  expect(statSync(path).size + statSync(`${path}.1`).size).toBeLessThanOrEqual(2 * 109);
  expect(log.lastLines(1)).toEqual(['line 099']);
  log.close();
  log.write('too late');
});
