import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readCompose } from './support/compose.ts';
import { textAt } from './support/kustomize/manifest.ts';
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
  strategy: z.object({ matrix: z.object({ package: z.array(z.string()) }) }).optional(),
  permissions: z.record(z.string(), z.string()).optional(),
  'timeout-minutes': z.number().optional(),
  uses: z.string().optional(),
  needs: z.union([z.string(), z.array(z.string())]).optional(),
});
const workflowSchema = z.looseObject({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(z.string(), jobSchema),
});
const workflow = (name: string) => workflowSchema.parse(parse(read(`.github/workflows/${name}.yml`)));
const { images, ...otherJobs } = workflow('release').jobs;
const released = images?.strategy?.matrix.package ?? [];

describe('a release', () => {
  test('passes the same gate as every change', () => {
    expect(workflow('ci').jobs['check']?.steps.map(({ run }) => run)).toContain('.ci/run');
    expect(otherJobs['check']?.uses).toBe('./.github/workflows/ci.yml');
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

  test('builds and pushes each image for two platforms, with its parts, its origin and the time of the commit', () => {
    const build = images?.steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'));
    expect(build?.with).toMatchObject({
      platforms: 'linux/amd64,linux/arm64',
      sbom: true,
      provenance: 'mode=max',
      outputs: 'type=registry,rewrite-timestamp=true',
    });
  });

  test('publishes the SDK under the version of the tag, and the page only once all is out', () => {
    const publish = otherJobs['sdk']?.steps.map(({ run = '' }) => run).find((run) => run.includes('pnpm publish'));
    expect(publish).toMatch(/version=\$\{GITHUB_REF_NAME#v\}/);
    expect(publish).toContain('repository.url=');
    expect(otherJobs['page']?.needs).toEqual(['images', 'sdk']);
    for (const job of [images, otherJobs['sdk']]) expect(job?.needs).toBe('check');
  });

  test('scans each image before it signs it', () => {
    const steps = images?.steps.map(({ uses, run }) => uses ?? run ?? '') ?? [];
    const scanned = steps.findIndex((step) => step.startsWith('aquasecurity/trivy-action@'));
    expect(scanned).toBeGreaterThan(-1);
    expect(steps.findIndex((step) => step.startsWith('cosign sign'))).toBeGreaterThan(scanned);
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
