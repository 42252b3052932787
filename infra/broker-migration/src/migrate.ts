import { migrateBroker } from '@svc/messaging/broker';
import { loadConfig } from '@svc/service-kit';
import { configSchema } from './config.ts';

const config = loadConfig(configSchema, process.env);
await migrateBroker({
  url: config.NATS_URL,
  caFile: config.NATS_CA_FILE,
  replicas: config.NATS_STREAM_REPLICAS,
  streamBytesMax: config.NATS_STREAM_BYTES_MAX,
});
console.log('broker: streams, bucket and durable consumers are those of this release');
