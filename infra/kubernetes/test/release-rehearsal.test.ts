import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { openRehearsal, type Rehearsal, type Release } from './support/workflow/rehearse-release.ts';

/** The workflow's own scripts run, in a copy of the repository. What reaches the network is a stand-in. */
const TIMEOUT_MS = 300_000;
const REGISTRY = 'ghcr.io/some-owner/svc';
const IMAGES = [
  'auth',
  'billing',
  'broker-migration',
  'console',
  'inference-gateway',
  'local',
  'operator',
  'sandbox',
  'webhook-dispatcher',
];

let rehearsal: Rehearsal;
beforeAll(() => {
  rehearsal = openRehearsal();
}, TIMEOUT_MS);
afterAll(() => rehearsal.close());

/** Returns the positions of the lines that begin so. */
const at = ({ log }: Release, start: string): number[] =>
  log.flatMap((line, index) => (line.startsWith(start) ? [index] : []));
const tagsOf = ({ log }: Release): string[] =>
  log
    .flatMap((line) => [...line.matchAll(/--tag (\S+)/g)].map(([, tag = '']) => tag))
    .filter((tag) => !tag.includes(':commit-'));
const filesOf = ({ assets }: Release, archive: string): string[] =>
  execFileSync('tar', ['--list', '--file', join(assets, archive)], { encoding: 'utf8' })
    .trim()
    .split('\n');

describe('the candidate v1.0.0-rc.1', { timeout: TIMEOUT_MS }, () => {
  let candidate: Release;
  beforeAll(() => {
    const tag = rehearsal.tag('v1.0.0-rc.1');
    expect(tag).toBe('v1.0.0-rc.1');
    candidate = rehearsal.release(tag, { npmPackage: '@some-owner/partner-sdk' });
  }, TIMEOUT_MS);

  test('comes out, without the SDK on npm', () => {
    const { sdk, ...others } = candidate.results;
    expect(sdk).toBe('skipped');
    expect(new Set(Object.values(others))).toEqual(new Set(['success']));
    expect(candidate.log.filter((line) => line.includes('publish'))).toEqual([]);
  });

  test('pushes by digest, scans, signs and only then names the images', () => {
    expect(at(candidate, 'push ')).toHaveLength(2 * IMAGES.length);
    for (const line of candidate.log.filter((each) => each.startsWith('push '))) {
      expect(line).toMatch(/^push ghcr\.io\/some-owner\/svc\/[a-z-]+@sha256:[\da-f]{64}$/);
      expect(candidate.log).toContain(line.replace('push', 'scan'));
    }
    const named = candidate.log.findIndex((line) => new RegExp(`${REGISTRY}/\\S+:1\\.0\\.0-rc\\.1`).test(line));
    expect(Math.max(...at(candidate, 'scan '))).toBeLessThan(Math.min(...at(candidate, 'cosign sign ')));
    expect(Math.max(...at(candidate, 'cosign sign '))).toBeLessThan(named);
    // The chart beside the images.
    expect(at(candidate, 'cosign sign ')).toHaveLength(IMAGES.length + 1);
    expect(candidate.log.at(-1)).toMatch(/^gh release create v1\.0\.0-rc\.1 /);
  });

  test('joins both platforms of each image, and gives it no tag but that of the candidate', () => {
    for (const image of IMAGES) {
      const joined = candidate.log.find((line) => line.includes(`--tag ${REGISTRY}/${image}:commit-`)) ?? '';
      const pushed = candidate.log.filter((line) => line.startsWith(`push ${REGISTRY}/${image}@`));
      expect(joined.split(' ').slice(-2).toSorted()).toEqual(
        pushed.map((line) => line.slice('push '.length)).toSorted(),
      );
    }
    expect(tagsOf(candidate)).toEqual(IMAGES.map((image) => `${REGISTRY}/${image}:1.0.0-rc.1`));
  });

  test('has a page with notes under its version, the files for one machine, and manifests that name its images', () => {
    expect(candidate.log.at(-1)).toContain('--prerelease');
    expect(readFileSync(join(candidate.assets, 'notes.md'), 'utf8')).toMatch(
      /^\s*## 1\.0\.0-rc\.1(, |\n)[\s\S]+The first release/,
    );
    const [kubernetes = '', machine = ''] = readdirSync(candidate.assets)
      .filter((name) => name.startsWith('svc-'))
      .toSorted();
    expect(filesOf(candidate, machine)).toEqual(
      expect.arrayContaining(
        ['docker-compose.yml', 'config/plans.yaml', 'infra/docker/make-env.sh', 'CHANGELOG.md'].map(
          (file) => `svc-1.0.0-rc.1/${file}`,
        ),
      ),
    );
    expect(filesOf(candidate, kubernetes)).toContain('svc-1.0.0-rc.1/kubernetes/base/kustomization.yaml');
    const overlay = 'svc-1.0.0-rc.1/kubernetes/overlays/production/kustomization.yaml';
    const text = execFileSync(
      'tar',
      ['--extract', '--to-stdout', '--file', join(candidate.assets, kubernetes), overlay],
      { encoding: 'utf8' },
    );
    const { images } = parse(text) as { images: { name: string; newName: string; newTag: string }[] };
    expect(images.length).toBeGreaterThan(0);
    for (const { name, newName, newTag } of images) {
      expect([newName, newTag]).toEqual([`${REGISTRY}/${name.replace('svc/', '')}`, '1.0.0-rc.1']);
    }
  });

  test('ends before anything is built if the SDK has another version', () => {
    rehearsal.retag('v1.0.0-rc.2', '1.0.0');
    const { results, log } = rehearsal.release('v1.0.0-rc.2');
    expect([results['version'], results['build'], results['page']]).toEqual(['failure', 'skipped', 'skipped']);
    expect(log).toEqual([]);
  });

  test('signs, names and announces nothing if the scan finds something in one image', () => {
    const { results, log } = rehearsal.release('v1.0.0-rc.1', { vulnerable: ['billing'] });
    expect([results['build'], results['sign'], results['images'], results['page']]).toEqual([
      'failure',
      'skipped',
      'skipped',
      'skipped',
    ]);
    expect(log.filter((line) => !/^(push|scan) /.test(line))).toEqual([]);
  });
});

describe('the releases after it', { timeout: TIMEOUT_MS }, () => {
  test('the first one is v1.0.0, the whole of it, with the SDK and the tag of its minor version', () => {
    rehearsal.commit('fix(billing): round down');
    const tag = rehearsal.tag();
    expect(tag).toBe('v1.0.0');
    const first = rehearsal.release(tag, { npmPackage: '@some-owner/partner-sdk' });
    expect(first.results['page']).toBe('success');
    expect(first.log.filter((line) => line.includes('publish'))).toHaveLength(1);
    expect(tagsOf(first)).toEqual(
      IMAGES.flatMap((image) => [`${REGISTRY}/${image}:1.0.0`, `${REGISTRY}/${image}:1.0`]),
    );
    expect(first.log.at(-1)).toContain('--latest');
    expect(readFileSync(join(first.assets, 'notes.md'), 'utf8')).toMatch(
      /^\s*## 1\.0\.0(, |\n)[\s\S]+The first release/,
    );
  });

  test('the next one lists what people notice since the last release, its candidates included', () => {
    rehearsal.commit('feat(auth): invite people');
    const candidate = rehearsal.tag('v1.1.0-rc.1');
    rehearsal.commit('fix(auth): invite them once');
    rehearsal.commit('test(auth): invite a stranger');
    const tag = rehearsal.tag();
    expect([candidate, tag]).toEqual(['v1.1.0-rc.1', 'v1.1.0']);
    const notes = readFileSync(join(rehearsal.release(tag).assets, 'notes.md'), 'utf8');
    expect(notes).toContain('- auth: invite people');
    expect(notes).toContain('- auth: invite them once');
    expect(notes).not.toMatch(/stranger|rc\.1|1\.0\.0/);
  });
});
