import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPreviousRelease } from '../src/index.ts';
import { type GitRepository, gitRepository } from './support/git-repository.ts';

let repository: GitRepository;
beforeAll(() => {
  repository = gitRepository();
});
afterAll(() => repository.remove());

test('finds the newest tag before the current commit, and reports if there is none', async () => {
  const warnings: string[] = [];
  const { commit } = repository;
  const found = () => findPreviousRelease(repository.folder, (text) => warnings.push(text));
  commit();
  commit();
  expect(await found()).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining('NO RELEASE IS TAGGED')]);

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
