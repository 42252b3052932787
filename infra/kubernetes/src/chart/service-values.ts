import { z } from 'zod';
import type { ChartValue, Place } from './chart-value.ts';

const SERVICES = ['auth', 'billing', 'console', 'inference-gateway', 'webhook-dispatcher'];
/** Images that the chart runs. */
export const imageNames: readonly string[] = [...SERVICES, 'broker-migration', 'operator'];

const POD = ['spec', 'template', 'spec'];
const resources = z.strictObject({
  requests: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  limits: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
});

/** Returns a name of the manifests as one of values, which cannot contain hyphens. */
export const camelCase = (name: string): string =>
  name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const valuesOf = (service: string): ChartValue[] => {
  const path = `services.${camelCase(service)}`;
  const autoscaler = { kind: 'HorizontalPodAutoscaler', name: service };
  const container = { kind: 'Deployment', name: service };
  return [
    {
      path: `${path}.replicas.min`,
      meaning: 'Fewest replicas',
      italian: 'Numero minimo di repliche',
      schema: z.int().min(1),
      places: [{ ...autoscaler, path: ['spec', 'minReplicas'] }],
    },
    {
      path: `${path}.replicas.max`,
      meaning: 'Most replicas',
      italian: 'Numero massimo di repliche',
      schema: z.int().min(1),
      places: [{ ...autoscaler, path: ['spec', 'maxReplicas'] }],
    },
    {
      path: `${path}.resources`,
      meaning: 'Requests and limits of a replica',
      italian: 'Richieste e limiti di una replica',
      schema: resources,
      places: [{ ...container, path: [...POD, 'containers', 'service', 'resources'] }],
    },
    {
      path: `${path}.environment`,
      meaning: 'Further environment variables, as a container lists them',
      italian: 'Altre variabili d’ambiente, come le elenca un container',
      schema: z.array(z.looseObject({ name: z.string() })),
      additions: [{ ...container, path: [...POD, 'containers', 'service', 'env'] }],
      preset: [],
    },
  ];
};

/** Secrets by their names in the manifests, with their content in English and in Italian. */
export const secrets: readonly (readonly [name: string, meaning: string, italian: string])[] = [
  ['auth', 'Secret of auth', 'Secret di auth'],
  ['billing', 'Secret of billing', 'Secret di billing'],
  [
    'inference-gateway',
    'Secret of inference-gateway, with the keys of providers',
    'Secret di inference-gateway, con le chiavi dei fornitori',
  ],
  ['webhook-dispatcher', 'Secret of webhook-dispatcher', 'Secret di webhook-dispatcher'],
  ['broker-migration', 'Secret of the migration of NATS', 'Secret della migrazione di NATS'],
  ['operator', 'Secret of the command line', 'Secret della riga di comando'],
  ['data-store-authorities', 'Certificates for `dataStores.verified`', 'Certificati per `dataStores.verified`'],
  ['billing-stripe', 'Keys of Stripe, with `stripe.enabled`', 'Chiavi di Stripe, con `stripe.enabled`'],
  [
    'auth-single-sign-on',
    'Secret of the client at your OpenID provider, with `singleSignOn.enabled`',
    'Secret del client presso il tuo provider OpenID, con `singleSignOn.enabled`',
  ],
];

/** Returns the value with the name of a Secret. */
export const secretValue = (name: string): string => `secrets.names.${camelCase(name)}`;

const PODS: Readonly<Record<string, readonly string[]>> = {
  Deployment: POD,
  Job: POD,
  CronJob: ['spec', 'jobTemplate', ...POD],
};

/** Returns the same field in every pod. */
const inPods = (field: string): Place[] =>
  Object.entries(PODS).map(([kind, path]) => ({ kind, path: [...path, field] }));

/** Values of pods: replicas, resources, placement, and the Secrets that they read. */
export const serviceValues: readonly ChartValue[] = [
  {
    path: 'images.pullSecrets',
    meaning: 'Secrets for the registry, such as `[{ name: registry }]`',
    italian: 'Secret per il registry, come `[{ name: registry }]`',
    schema: z.array(z.strictObject({ name: z.string() })),
    additions: inPods('imagePullSecrets'),
    preset: [],
  },
  ...SERVICES.flatMap(valuesOf),
  {
    path: 'nodeSelector',
    meaning: 'Labels of the nodes for all pods',
    italian: 'Etichette dei nodi per tutti i pod',
    schema: z.record(z.string(), z.string()),
    additions: inPods('nodeSelector'),
    preset: {},
  },
  {
    path: 'tolerations',
    meaning: 'Taints that all pods tolerate',
    italian: 'Taint che tutti i pod tollerano',
    schema: z.array(z.looseObject({})),
    additions: inPods('tolerations'),
    preset: [],
  },
  {
    path: 'secrets.store',
    meaning: 'ClusterSecretStore of the External Secrets Operator; empty: you bring the Secrets',
    italian: 'ClusterSecretStore dell’External Secrets Operator; vuoto: i Secret li porti tu',
    schema: z.string(),
    places: [{ kind: 'ExternalSecret', path: ['spec', 'secretStoreRef', 'name'] }],
  },
  ...secrets.map(([name, meaning, italian]) => ({
    path: secretValue(name),
    meaning,
    italian,
    schema: z.string().min(1),
    preset: name,
  })),
];
