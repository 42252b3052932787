import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type Manifest, toManifest } from '../../src/kustomize/manifest.ts';

/** End of a container: what it printed, and its exit code. */
export interface Ended {
  readonly output: string;
  readonly exitCode: number;
}

/** Runs a Job's container. The stand-in has no kubelet. */
export type RunJob = (job: Manifest) => Promise<Ended>;

/** API server of Kubernetes with what kubectl needs to run one Job at a time. */
export interface ClusterStandIn {
  readonly url: string;
  /** Requests that changed something, in order. */
  readonly changes: string[];
  readonly stop: () => void;
}

const resources = (groupVersion: string, kinds: Record<string, string>): object => {
  const verbs = ['create', 'delete', 'get', 'list'];
  const rows = Object.entries(kinds).map(([name, kind]) => ({ name, kind, namespaced: true, singularName: '', verbs }));
  return { kind: 'APIResourceList', groupVersion, resources: rows };
};

const GROUPS = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      {
        name: 'batch',
        versions: [{ groupVersion: 'batch/v1', version: 'v1' }],
        preferredVersion: { groupVersion: 'batch/v1', version: 'v1' },
      },
    ],
  },
  '/api/v1': resources('v1', { pods: 'Pod' }),
  '/apis/batch/v1': resources('batch/v1', { cronjobs: 'CronJob', jobs: 'Job' }),
};

const JOBS = '/apis/batch/v1/namespaces/svc/jobs';
const PODS = '/api/v1/namespaces/svc/pods';

/** Starts an API server that knows one CronJob. */
export const startClusterStandIn = async (template: Manifest, runJob: RunJob): Promise<ClusterStandIn> => {
  const changes: string[] = [];
  let job: Manifest | undefined;
  let ended: Ended | undefined;
  const podOf = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${name}-pod`, namespace: 'svc', labels: { 'batch.kubernetes.io/job-name': name } },
    spec: { containers: [{ name: 'svc' }] },
    status: {
      phase: ended === undefined ? 'Pending' : 'Succeeded',
      containerStatuses: [
        { state: ended === undefined ? { waiting: {} } : { terminated: { exitCode: ended.exitCode } } },
      ],
    },
  });
  const answer = async (req: IncomingMessage): Promise<unknown> => {
    const path = new URL(req.url ?? '', 'http://cluster').pathname;
    if (req.method !== 'GET') changes.push(`${req.method} ${path.replace(/svc-\d+-\d+/, 'svc-…')}`);
    if (req.method === 'POST' && path === JOBS) {
      const made = toManifest(await json(req), 'POST jobs');
      job = { ...made, spec: { ...(made['spec'] as object), selector: { matchLabels: { made: 'here' } } } };
      void runJob(made).then((result) => {
        ended = result;
      });
      return job;
    }
    if (path === PODS) {
      return { apiVersion: 'v1', kind: 'PodList', metadata: {}, items: job ? [podOf(job.metadata.name)] : [] };
    }
    if (path.endsWith('/log')) return ended?.output ?? '';
    if (path.startsWith(`${PODS}/`) && job) return podOf(job.metadata.name);
    if (path.startsWith(`${JOBS}/`)) return req.method === 'GET' ? job : { kind: 'Status', status: 'Success' };
    if (path.endsWith('/cronjobs/operator')) return template;
    return Reflect.get(GROUPS, path);
  };
  const server = createServer((req, res) => {
    void answer(req).then((body) => {
      const isText = typeof body === 'string';
      res.writeHead(body === undefined ? 404 : 200, { 'content-type': isText ? 'text/plain' : 'application/json' });
      res.end(isText ? body : JSON.stringify(body ?? { kind: 'Status', status: 'Failure', code: 404 }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A TCP listener's address is never a path.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, changes, stop: () => server.closeAllConnections() ?? server.close() };
};
