import { describeSettings } from '@svc/service-kit';
import { type Manifest, valueAt } from '../../src/kustomize/manifest.ts';
import { configSchemaOf } from './config-schemas.ts';
import { containersOf, type DeployedService, environmentOf, find } from './overlays.ts';

/** Services with a database, and the processes of each that hold a session outside the pool: the candidates for its relay. */
const databaseServices = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'] as const;
const WITHOUT_RELAY: readonly string[] = ['webhook-dispatcher'];
/** Connections of a migration Job, which runs beside the previous release's replicas. */
const MIGRATION = 2;
/** Connections that each server keeps for its superuser, its standbys, backups, monitoring and exports. */
export const RESERVED = 20;

/** Connections that a service opens at most. */
export interface Connections {
  readonly service: (typeof databaseServices)[number];
  /** The autoscaler's maximum, and the pods that a rollout adds. */
  readonly replicas: number;
  readonly perReplica: number;
  readonly total: number;
}

/** Returns the connections of each service: replicas, each with a pool and a session for the relay, and a migration. */
export const connectionsOf = async (manifests: readonly Manifest[]): Promise<Connections[]> =>
  await Promise.all(
    databaseServices.map(async (service) => {
      const maximum = Number(valueAt(find(manifests, 'HorizontalPodAutoscaler', service), 'spec', 'maxReplicas'));
      const deployment = find(manifests, 'Deployment', service);
      const surge = Number(valueAt(deployment, 'spec', 'strategy', 'rollingUpdate', 'maxSurge'));
      const perReplica = (await poolOf(manifests, service)) + (WITHOUT_RELAY.includes(service) ? 0 : 1);
      const replicas = maximum + surge;
      return { service, replicas, perReplica, total: replicas * perReplica + MIGRATION };
    }),
  );

const poolOf = async (manifests: readonly Manifest[], service: DeployedService): Promise<number> => {
  const [container = {}] = containersOf(find(manifests, 'Deployment', service));
  const given = environmentOf(manifests, container).get('DATABASE_POOL_MAX');
  if (given !== undefined) return 'text' in given ? Number(given.text) : Number.NaN;
  const settings = describeSettings(await configSchemaOf(service));
  return Number(settings.find(({ name }) => name === 'DATABASE_POOL_MAX')?.default);
};

/** Returns max_connections of the overlay's PostgreSQL, which runs all databases. */
export const connectionsMaxOf = (manifests: readonly Manifest[], statefulSet: string): number => {
  const [container = {}] = containersOf(find(manifests, 'StatefulSet', statefulSet));
  const assignment = [container['args']].flat().find((text) => String(text).startsWith('max_connections='));
  return Number(String(assignment).split('=')[1]);
};
