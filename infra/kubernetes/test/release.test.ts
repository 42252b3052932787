import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { camelCase, imageNames } from '../src/chart/service-values.ts';
import { textAt } from '../src/kustomize/manifest.ts';
import { readCompose } from './support/compose.ts';
import { containersOf, overlay, workloads } from './support/overlays.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

const stepSchema = z.looseObject({
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
});
const jobSchema = z.looseObject({
  steps: z.array(stepSchema).default([]),
  strategy: z
    .object({ matrix: z.object({ package: z.array(z.string()), runner: z.array(z.string()).optional() }) })
    .optional(),
  permissions: z.record(z.string(), z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  'timeout-minutes': z.number().optional(),
  uses: z.string().optional(),
  needs: z.union([z.string(), z.array(z.string())]).optional(),
});
const workflowSchema = z.looseObject({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(z.string(), jobSchema),
});
const workflow = (name: string) => workflowSchema.parse(parse(read(`.github/workflows/${name}.yml`)));
const { jobs } = workflow('release');
const released = jobs['build']?.strategy?.matrix.package ?? [];
const stepsOf = (job: string): string[] => jobs[job]?.steps.map(({ uses, run }) => uses ?? run ?? '') ?? [];

describe('a release', () => {
  test('passes the same gate as every change', () => {
    expect(workflow('ci').jobs['check']?.steps.map(({ run }) => run)).toContain('.ci/run');
    expect(jobs['check']?.uses).toBe('./.github/workflows/ci.yml');
  });

  test('publishes every image that compose and the production overlay run', () => {
    const built = Object.values(readCompose()).flatMap(({ build }) =>
      build === undefined ? [] : [(build.args['PACKAGE'] ?? '').replace('@svc/', '')],
    );
    const deployed = workloads(overlay('production'))
      .flatMap((workload) => containersOf(workload).map((container) => textAt(container, 'image')))
      .map((image) => image.replace(/^.*\//, '').replace(/[:@].*$/, ''));
    expect(released.toSorted()).toEqual([...new Set([...built, ...deployed])].toSorted());
  });

  test('builds each image on two platforms without a tag, with its parts, its origin and the time of the commit', () => {
    expect(jobs['build']?.strategy?.matrix.runner).toEqual(['ubuntu-24.04', 'ubuntu-24.04-arm']);
    const build = jobs['build']?.steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'));
    expect(build?.with).toMatchObject({ sbom: true, provenance: 'mode=max' });
    expect(build?.with).not.toHaveProperty('tags');
    expect(build?.with?.['outputs']).toMatch(/push-by-digest=true.*rewrite-timestamp=true/);
  });

  test('publishes the SDK under the version of the tag, and the page only once all is out', () => {
    const publish = stepsOf('sdk').find((run) => run.includes(' publish --access'));
    expect(publish).toContain('repository.url=');
    expect(stepsOf('version').join()).toContain('jq -r .version packages/partner-sdk/package.json');
    expect(jobs['page']?.needs).toEqual(['version', 'images', 'sdk']);
    for (const job of ['build', 'sdk']) expect(jobs[job]?.needs).toEqual(['check', 'version']);
  });

  test('scans every image before it signs one, and signs every image before one gets its tag', () => {
    expect(stepsOf('build').some((step) => step.startsWith('aquasecurity/trivy-action@'))).toBe(true);
    expect(stepsOf('sign').join()).toContain('cosign sign');
    expect(jobs['sign']?.needs).toContain('build');
    expect(jobs['images']?.needs).toContain('sign');
    expect(jobs['sign']?.strategy?.matrix.package).toEqual(released);
    expect(jobs['images']?.env?.['PACKAGES']?.split(' ')).toEqual(released);
  });

  test('signs the chart, which names the signed images by digest, and gives it its tag after all images', () => {
    expect(stepsOf('chart').join()).toContain('cosign sign');
    expect(jobs['chart']?.needs).toContain('sign');
    expect(jobs['images']?.needs).toContain('chart');
    const naming = stepsOf('images').at(-1) ?? '';
    expect(naming.indexOf('$CHART:$VERSION')).toBeGreaterThan(naming.indexOf('done'));
    expect(jobs['chart']?.env?.['PACKAGES']?.split(' ').toSorted()).toEqual(imageNames.toSorted());
  });

  test('writes the registry and the digest of each image into the chart', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-release-'));
    try {
      cpSync(new URL('infra/kubernetes/chart/svc', ROOT), join(folder, 'svc'), { recursive: true });
      const script = stepsOf('chart').find((run) => run.includes('values.yaml')) ?? '';
      const digestOf = (name: string): string => `sha256:${hash('sha256', name, 'hex')}`;
      const stubs = [
        `docker() { name=\${4##*/}; echo "sha256:$(printf %s "\${name%%:*}" | sha256sum | cut -c1-64)"; }`,
        'helm() { test "$1" = lint || test "$*" = "package svc --version 1.2.3 --app-version 1.2.3"; }',
      ];
      const env = {
        ...process.env,
        PACKAGES: imageNames.join(' '),
        REGISTRY: 'r.test/o',
        VERSION: '1.2.3',
        GITHUB_SHA: 'abc',
      };
      execFileSync('bash', ['-euc', [...stubs, script].join('\n')], { cwd: folder, env });
      const { images } = parse(readFileSync(join(folder, 'svc/values.yaml'), 'utf8'));
      expect(images.registry).toBe('r.test/o');
      expect(images.digests).toEqual(Object.fromEntries(imageNames.map((name) => [camelCase(name), digestOf(name)])));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('attaches the files for one machine and the manifests, which exist', () => {
    const assets = stepsOf('page').find((run) => run.includes('git archive')) ?? '';
    const paths = assets.match(/\b(?:docker-compose\.yml|config|infra\/[\w/-]+|docs\/\w+|CHANGELOG\.md)(?=\s)/g) ?? [];
    expect(paths).toEqual(expect.arrayContaining(['docker-compose.yml', 'config', 'infra/docker']));
    expect(paths.filter((path) => !existsSync(new URL(path, ROOT)))).toEqual([]);
  });

  test('runs actions of others by the digest of their commit', () => {
    const used = ['ci', 'release'].flatMap((name) =>
      Object.values(workflow(name).jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? [])),
    );
    expect(used.filter((uses) => !/@[\da-f]{40}$/.test(uses))).toEqual([]);
  });

  test('leaves no token in a checkout, and fetches no pnpm but that of package.json where it may publish', () => {
    const checkouts = ['ci', 'release'].flatMap((name) =>
      Object.values(workflow(name).jobs).flatMap(({ steps }) =>
        steps.filter(({ uses }) => uses?.startsWith('actions/checkout@')),
      ),
    );
    for (const step of checkouts) expect(step.with).toMatchObject({ 'persist-credentials': false });
    const fetched = Object.keys(jobs).flatMap(
      (job) =>
        stepsOf(job)
          .join('\n')
          .match(/npx .*(?:install|publish)/g) ?? [],
    );
    expect(fetched).toHaveLength(3);
    for (const command of fetched) expect(command).toMatch(/^npx "\$\(jq -r \.packageManager [./]*package\.json\)" /);
  });

  test.each(['ci', 'release'])('%s may write only where a job says so, and ends in time', (name) => {
    const { permissions, jobs } = workflow(name);
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) if (job.uses === undefined) expect(job['timeout-minutes']).toBeLessThan(91);
  });
});

test('every folder in CODEOWNERS exists', () => {
  const paths = read('CODEOWNERS')
    .split('\n')
    .filter((line) => line.startsWith('/'))
    .map((line) => line.split(/\s+/, 1)[0] ?? '');
  expect(paths.filter((path) => !existsSync(new URL(path.slice(1), ROOT)))).toEqual([]);
});
