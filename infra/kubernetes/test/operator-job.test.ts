import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Manifest, textAt } from '../src/kustomize/manifest.ts';
import { type ClusterStandIn, type Ended, startClusterStandIn } from './support/cluster-stand-in.ts';
import { containersOf, environmentOf, find, overlay } from './support/overlays.ts';

const SCRIPT = fileURLToPath(new URL('../svc', import.meta.url));
const OPERATOR = fileURLToPath(new URL('../../operator/', import.meta.url));
const TIMEOUT_MS = 60_000;
const hasKubectl = spawnSync('kubectl', ['version', '--client'], { timeout: 20_000 }).status === 0;
if (!hasKubectl) process.stderr.write('SKIPPED: kubectl is missing, so no Job of the operator has been made\n');

const run = async (command: string, args: readonly string[], env: Record<string, string>): Promise<Ended> => {
  const child = spawn(command, args, { env: { PATH: process.env['PATH'] ?? '', ...env }, timeout: TIMEOUT_MS });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), closed(child)]);
  return { output: stdout + stderr, exitCode: child.exitCode ?? -1 };
};
const closed = (child: ReturnType<typeof spawn>) => new Promise((resolve) => child.once('close', resolve));

describe.skipIf(!hasKubectl)('infra/kubernetes/svc, with kubectl and a stand-in for the cluster', () => {
  const manifests = overlay('local');
  const jobs: Manifest[] = [];
  const actors: unknown[] = [];
  let auth: Server;
  let cluster: ClusterStandIn;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-operator-job-'));
    auth = createServer((req, res) => {
      actors.push(req.headers['x-svc-operator']);
      res.writeHead(404, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ detail: { code: 'not_found', message: 'There is no such resource.' } }));
    });
    await new Promise<void>((resolve) => auth.listen(0, '127.0.0.1', resolve));
    cluster = await startClusterStandIn(find(manifests, 'CronJob', 'operator'), runJob);
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'here', cluster: { server: cluster.url } }],
      contexts: [{ name: 'production', context: { cluster: 'here', user: 'ada' } }],
      users: [{ name: 'ada', user: {} }],
    };
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));
  });
  afterAll(() => {
    auth.close();
    cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the Job's container as a process: its arguments and its environment, with auth at a local address. */
  const runJob = async (job: Manifest): Promise<Ended> => {
    jobs.push(job);
    const [container = {}] = containersOf(job);
    const environment = [...environmentOf(manifests, container)].map(([name, value]) => [
      name,
      'text' in value ? value.text : textAt(find(manifests, 'Secret', value.secret), 'stringData', value.key),
    ]);
    // A TCP listener's address is never a path.
    const { port } = auth.address() as AddressInfo;
    const env = { ...Object.fromEntries(environment), AUTH_INTERNAL_URL: `http://127.0.0.1:${port}` };
    const [entry = '', ...args] = [container['args']].flat().map(String);
    return run(process.execPath, [join(OPERATOR, entry.replace(/js$/, 'ts')), ...args], env);
  };
  const svc = (...args: string[]) =>
    run(SCRIPT, args, { KUBECONFIG: join(folder, 'kubeconfig'), SVC_OPERATOR: 'ada', HOME: folder });

  test('runs a command as a new Job, prints what it printed, ends with its exit code, and removes the Job', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const result = await svc('--context', 'production', 'account', 'find', 'a "quoted" \\ address@example.com');
    expect(result).toEqual({ exitCode: 1, output: 'svc: not_found: There is no such resource.\n' });
    expect(containersOf(jobs[0] ?? find(manifests, 'CronJob', 'operator'))[0]?.['args']).toEqual([
      ...['src/main.js', 'account', 'find', 'a "quoted" \\ address@example.com'],
    ]);
    expect(actors).toEqual(['ada']);
    expect(cluster.changes).toEqual([
      'POST /apis/batch/v1/namespaces/svc/jobs',
      'DELETE /apis/batch/v1/namespaces/svc/jobs/svc-…',
    ]);
  });

  test('refuses a cluster that kubectl does not know, and makes no Job', { timeout: TIMEOUT_MS }, async () => {
    const before = jobs.length;
    expect(await svc('--context=unknown', 'status')).toMatchObject({ exitCode: 1 });
    expect(jobs).toHaveLength(before);
  });
});
