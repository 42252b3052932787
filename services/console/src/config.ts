import { commonSettings, setting } from '@svc/service-kit';
import { z } from 'zod';

const { PORT, INTERNAL_PORT, HOST, PUBLIC_BASE_URL, LOG_LEVEL, SHUTDOWN_GRACE_MS, SHUTDOWN_DELAY_MS } = commonSettings;

/** The console's configuration: it serves files, so it needs neither a database nor the broker. */
export const configSchema = z.object({
  PORT,
  INTERNAL_PORT,
  HOST,
  PUBLIC_BASE_URL,
  LOG_LEVEL,
  SHUTDOWN_GRACE_MS,
  SHUTDOWN_DELAY_MS,
  TERMS_URL: setting.url({
    description: 'Terms of service, which the public pages link to.',
    optional: true,
  }),
  PRIVACY_URL: setting.url({
    description: 'Privacy policy, which the public pages link to.',
    optional: true,
  }),
  SAMPLE_APP_URL: setting.url({
    description: 'Address of a sample app that people can connect. Without it, they are led to the quick start.',
    optional: true,
  }),
});
