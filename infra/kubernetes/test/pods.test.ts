import { describeSettings } from '@svc/service-kit';
import { describe, expect, test } from 'vitest';
import {
  type Fields,
  fieldsAt,
  listAt,
  type Manifest,
  podTemplateOf,
  textAt,
  valueAt,
} from '../src/kustomize/manifest.ts';
import { configSchemaOf } from './support/config-schemas.ts';
import {
  containersOf,
  environmentOf,
  find,
  ofKind,
  overlay,
  overlayNames,
  podSpecOf,
  secretKeys,
  serviceNames,
  workloads,
} from './support/overlays.ts';

/** Shutdown steps after the last request, each of which may take 10 s; the gateway has the most. */
const STOP_STEPS_MAX_MS = 90_000;

const settings = new Map(
  await Promise.all(serviceNames.map(async (name) => [name, describeSettings(await configSchemaOf(name))] as const)),
);

const secondsOf = (workload: Manifest): number => Number(podSpecOf(workload)['terminationGracePeriodSeconds']);
const bytes = (quantity: string): number => {
  const [, amount = '', unit = ''] = /^(\d+)(Ki|Mi|Gi)$/.exec(quantity) ?? [];
  return Number(amount) * { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, '': Number.NaN }[unit as 'Ki' | 'Mi' | 'Gi' | ''];
};
const cores = (quantity: string): number =>
  quantity.endsWith('m') ? Number(quantity.slice(0, -1)) / 1000 : Number(quantity);

describe.each(overlayNames)('%s', (name) => {
  const manifests = overlay(name);

  describe.each(
    workloads(manifests).map((workload) => [`${workload.kind} ${workload.metadata.name}`, workload] as const),
  )('%s', (_name, workload) => {
    const pod = podSpecOf(workload);
    const isJob = workload.kind === 'Job' || workload.kind === 'CronJob';

    test('meets the restricted pod security standard', () => {
      expect(pod['securityContext']).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(Number(valueAt(pod, 'securityContext', 'runAsUser'))).toBeGreaterThan(0);
      for (const shared of ['hostNetwork', 'hostPID', 'hostIPC']) expect(pod).not.toHaveProperty(shared);
      for (const container of containersOf(workload)) {
        expect(container['securityContext']).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
      const volumes = listAt(pod, 'volumes').map((volume) => Object.keys(volume).find((key) => key !== 'name'));
      expect(volumes.filter((kind) => kind !== 'configMap' && kind !== 'emptyDir' && kind !== 'secret')).toEqual([]);
    });

    test('has a separate service account without a token', () => {
      const account = find(manifests, 'ServiceAccount', textAt(pod, 'serviceAccountName'));
      expect(account['automountServiceAccountToken']).toBe(false);
      expect(pod['automountServiceAccountToken']).toBe(false);
      expect(pod['enableServiceLinks']).toBe(false);
    });

    test('has requests and limits for memory and processor time', () => {
      for (const { resources } of containersOf(workload)) {
        const requests = fieldsAt(resources, 'requests');
        const limits = fieldsAt(resources, 'limits');
        expect(cores(textAt(requests, 'cpu'))).toBeLessThanOrEqual(cores(textAt(limits, 'cpu')));
        expect(bytes(textAt(requests, 'memory'))).toBeLessThanOrEqual(bytes(textAt(limits, 'memory')));
      }
    });

    test('runs an image with an exact version', () => {
      for (const { image } of containersOf(workload)) expect(image).toMatch(/(:[\w.-]+|@sha256:[\da-f]{64})$/);
      expect(JSON.stringify(workload)).not.toContain(':latest');
    });

    test('has distinct labels', () => {
      const labels = fieldsAt(podTemplateOf(workload), 'metadata', 'labels');
      expect(labels).toMatchObject({
        'app.kubernetes.io/name': workload.metadata.name,
        'app.kubernetes.io/part-of': 'svc',
        'app.kubernetes.io/component': expect.any(String),
      });
      if (!isJob) {
        const selector = fieldsAt(workload, 'spec', 'selector', 'matchLabels');
        expect(selector).toEqual({ 'app.kubernetes.io/name': workload.metadata.name });
      }
    });

    if (!isJob)
      test('has startup, liveness and readiness probes', () => {
        for (const container of containersOf(workload)) {
          const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => fieldsAt(container, probe));
          for (const probe of probes) expect(probe).not.toEqual({});
        }
      });

    test('mounts only existing sources', () => {
      const claims = listAt(workload, 'spec', 'volumeClaimTemplates').map((claim) => textAt(claim, 'metadata', 'name'));
      const volumes = new Set([...listAt(pod, 'volumes').map((volume) => textAt(volume, 'name')), ...claims]);
      for (const container of containersOf(workload)) {
        for (const mount of listAt(container, 'volumeMounts')) expect(volumes).toContain(mount['name']);
      }
      for (const volume of listAt(pod, 'volumes')) {
        if (volume['configMap'] !== undefined) find(manifests, 'ConfigMap', textAt(volume, 'configMap', 'name'));
        if (volume['secret'] !== undefined) secretKeys(manifests, textAt(volume, 'secret', 'secretName'));
      }
    });
  });

  describe.each(serviceNames)('service %s', (service) => {
    const deployment = find(manifests, 'Deployment', service);
    const [container = {}] = containersOf(deployment);
    const milliseconds = (variable: string): number => {
      const value = environmentOf(manifests, container).get(variable);
      if (value !== undefined && 'text' in value) return Number(value.text);
      return Number(settings.get(service)?.find((setting) => setting.name === variable)?.default);
    };

    test('uses /healthz for liveness and /readyz for readiness, on the internal port', () => {
      const asked = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) =>
        fieldsAt(container, probe, 'httpGet'),
      );
      expect(asked).toEqual([
        { path: '/healthz', port: 'internal' },
        { path: '/healthz', port: 'internal' },
        { path: '/readyz', port: 'internal' },
      ]);
      expect(container['ports']).toEqual([
        { name: 'public', containerPort: 3000 },
        { name: 'internal', containerPort: 3001 },
      ]);
    });

    test('serves while it leaves the endpoints and completes open requests', () => {
      expect(milliseconds('SHUTDOWN_DELAY_MS')).toBeGreaterThanOrEqual(5_000);
      const needed = milliseconds('SHUTDOWN_DELAY_MS') + milliseconds('SHUTDOWN_GRACE_MS') + STOP_STEPS_MAX_MS;
      expect(secondsOf(deployment) * 1_000).toBeGreaterThanOrEqual(needed);
    });

    if (service === 'inference-gateway')
      test('lets the longest stream end', () => {
        const longest =
          milliseconds('ADMISSION_TIMEOUT_MS') +
          milliseconds('UPSTREAM_CONNECT_TIMEOUT_MS') +
          milliseconds('UPSTREAM_TOTAL_TIMEOUT_MS');
        expect(milliseconds('SHUTDOWN_GRACE_MS')).toBeGreaterThan(longest);
      });

    test('is rolled out without losing an instance', () => {
      expect(valueAt(deployment, 'spec', 'strategy', 'rollingUpdate')).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    });

    test('is scaled only by its autoscaler and evicted one by one', () => {
      expect(fieldsAt(deployment, 'spec')).not.toHaveProperty('replicas');
      const scaler = find(manifests, 'HorizontalPodAutoscaler', service);
      expect(textAt(scaler, 'spec', 'scaleTargetRef', 'name')).toBe(service);
      expect(Number(valueAt(scaler, 'spec', 'minReplicas'))).toBeGreaterThanOrEqual(name === 'local' ? 1 : 2);
      const budget = find(manifests, 'PodDisruptionBudget', service);
      expect(fieldsAt(budget, 'spec', 'selector')).toEqual(fieldsAt(deployment, 'spec', 'selector'));
      expect(valueAt(budget, 'spec', 'maxUnavailable')).toBe(1);
    });

    test('is spread over zones and nodes', () => {
      const spread = listAt(podSpecOf(deployment), 'topologySpreadConstraints');
      expect(spread.map((each) => each['topologyKey'])).toEqual([
        'topology.kubernetes.io/zone',
        'kubernetes.io/hostname',
      ]);
      for (const each of spread) expect(each['labelSelector']).toEqual(valueAt(deployment, 'spec', 'selector'));
    });

    if (service !== 'console')
      test('follows its migration when Argo CD syncs', () => {
        const annotations = (kind: string, of: string) =>
          fieldsAt(find(manifests, kind, of), 'metadata', 'annotations');
        expect(annotations('Job', `${service}-migration`)).toMatchObject({ 'argocd.argoproj.io/hook': 'Sync' });
        expect(annotations('Deployment', service)).toMatchObject({ 'argocd.argoproj.io/sync-wave': '1' });
      });

    test('is exposed on a public and an internal port', () => {
      const found = find(manifests, 'Service', service);
      expect(fieldsAt(found, 'spec', 'selector')).toEqual({ 'app.kubernetes.io/name': service });
      expect(listAt(found, 'spec', 'ports').map(({ name: port, port: number }: Fields) => [port, number])).toEqual([
        ['public', 3000],
        ['internal', 3001],
      ]);
    });

    if (service !== 'console')
      test('is migrated by a Job from the same image with only the database secret', () => {
        const job = find(manifests, 'Job', `${service}-migration`);
        const [migration = {}] = containersOf(job);
        expect(migration['image']).toBe(container['image']);
        expect(migration['args']).toEqual(['src/migrate.js']);
        const given = environmentOf(manifests, migration);
        expect([...given].filter(([, value]) => 'secret' in value)).toEqual([
          ['DATABASE_URL', { secret: service, key: 'DATABASE_URL' }],
        ]);
        const known = [...given.keys()].filter((variable) => !variable.startsWith('DATABASE_'));
        expect(known).toEqual([]);
        expect(podSpecOf(job)['restartPolicy']).toBe('Never');
        expect(Number(valueAt(job, 'spec', 'activeDeadlineSeconds'))).toBeGreaterThan(0);
      });
  });

  test('only the local overlay contains secrets', () => {
    expect(ofKind(manifests, 'Secret').length > 0).toBe(name === 'local');
    expect(ofKind(manifests, 'ExternalSecret').length > 0).toBe(name !== 'local');
  });

  test('the namespace enforces the restricted standard', () => {
    expect(find(manifests, 'Namespace', 'svc').metadata.labels).toMatchObject({
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
  });
});
