import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPreviousRelease } from './upgrade/previous-release.ts';

const AUTHOR = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false'];

let repository: string;
beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'svc-releases-'));
  git('init', '--quiet');
});
afterAll(() => rmSync(repository, { recursive: true }));

const git = (...args: string[]): void => {
  execFileSync('git', ['-C', repository, ...AUTHOR, ...args], { stdio: 'pipe' });
};
const commit = (tag?: string): void => {
  git('commit', '--quiet', '--allow-empty', '--message', 'a change');
  if (tag !== undefined) git('tag', '--annotate', tag, '--message', tag);
};

test('the upgrade test starts at the newest tag before this commit, and reports if there is none', async () => {
  const warnings: string[] = [];
  const found = () => findPreviousRelease(repository, (text) => warnings.push(text));
  commit();
  commit();
  const fallback = await found();
  expect(fallback).toMatch(/^[0-9a-f]{40}$/);
  expect(warnings).toEqual([expect.stringContaining(fallback)]);

  commit('v1.0.0');
  commit('not-a-release');
  expect(await found()).toBe('v1.0.0');
  // A release is compared with the one before it, not with itself.
  commit('v1.1.0');
  expect(await found()).toBe('v1.0.0');
  commit();
  expect(await found()).toBe('v1.1.0');
  expect(warnings).toHaveLength(1);
});
