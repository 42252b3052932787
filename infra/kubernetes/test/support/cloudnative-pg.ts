import { z } from 'zod';

const secretKey = z.strictObject({ name: z.string(), key: z.string() });
const resources = z.strictObject({ cpu: z.string(), memory: z.string() });

/** The fields of CloudNativePG 1.30 and its Barman Cloud plugin that our manifests may use, as their definitions name them. */
export const cloudNativePg: Readonly<Record<string, z.ZodType>> = {
  Cluster: z.strictObject({
    instances: z.int().min(3),
    imageName: z.string().regex(/^ghcr\.io\/cloudnative-pg\/postgresql:18\.\d+-/),
    primaryUpdateStrategy: z.enum(['unsupervised', 'supervised']),
    primaryUpdateMethod: z.enum(['switchover', 'restart']),
    bootstrap: z.strictObject({
      initdb: z.strictObject({
        database: z.string(),
        owner: z.string(),
        secret: z.strictObject({ name: z.string() }),
        encoding: z.literal('UTF8'),
        localeCollate: z.literal('C'),
        localeCType: z.literal('C'),
      }),
    }),
    certificates: z.strictObject({ serverTLSSecret: z.string(), serverCASecret: z.string() }),
    postgresql: z.strictObject({
      parameters: z.record(z.string(), z.string()),
      synchronous: z.strictObject({
        method: z.enum(['any', 'first']),
        number: z.int().min(1),
        dataDurability: z.enum(['required', 'preferred']),
        failoverQuorum: z.boolean(),
      }),
    }),
    plugins: z.array(
      z.strictObject({
        name: z.literal('barman-cloud.cloudnative-pg.io'),
        isWALArchiver: z.boolean(),
        parameters: z.strictObject({ barmanObjectName: z.string() }),
      }),
    ),
    affinity: z.strictObject({ podAntiAffinityType: z.enum(['required', 'preferred']), topologyKey: z.string() }),
    resources: z.strictObject({ requests: resources, limits: resources }),
    storage: z.strictObject({ size: z.string().regex(/^\d+Gi$/) }),
    walStorage: z.strictObject({ size: z.string().regex(/^\d+Gi$/) }),
  }),
  ScheduledBackup: z.strictObject({
    // Six fields, the first for seconds.
    schedule: z.string().regex(/^(\S+ ){5}\S+$/),
    backupOwnerReference: z.enum(['none', 'self', 'cluster']),
    method: z.literal('plugin'),
    pluginConfiguration: z.strictObject({ name: z.literal('barman-cloud.cloudnative-pg.io') }),
    cluster: z.strictObject({ name: z.string() }),
  }),
  ObjectStore: z.strictObject({
    retentionPolicy: z.string().regex(/^[1-9]\d*[dwm]$/),
    configuration: z.strictObject({
      destinationPath: z.string().startsWith('s3://'),
      endpointURL: z.url({ protocol: /^https$/ }),
      s3Credentials: z.strictObject({ accessKeyId: secretKey, secretAccessKey: secretKey }),
      wal: z.strictObject({ compression: z.enum(['bzip2', 'gzip', 'lz4', 'snappy', 'xz', 'zstd']) }),
      data: z.strictObject({ compression: z.enum(['bzip2', 'gzip', 'snappy']) }),
    }),
  }),
};
