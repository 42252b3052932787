import { brokerSettings, setting } from '@svc/service-kit';
import { z } from 'zod';

/** The environment of the broker's migration. */
export const configSchema = z.object({
  ...brokerSettings,
  NATS_STREAM_REPLICAS: setting.integer({
    description: 'Copies that NATS keeps of each stream: 3 in a cluster. Streams that have another number are changed.',
    min: 1,
    max: 5,
    default: 1,
  }),
  NATS_STREAM_BYTES_MAX: setting.integer({
    description:
      'Bytes that each stream of facts may hold for consumers that lag. A stream with a higher limit keeps it; a full one refuses facts, which wait in the outboxes.',
    min: 16 * 1024 ** 2,
    default: 2 * 1024 ** 3,
  }),
});
