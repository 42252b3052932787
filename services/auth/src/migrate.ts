import { fileURLToPath } from 'node:url';
import { migrate } from '@svc/database';
import { loadConfig } from '@svc/service-kit';
import { z } from 'zod';
import { configSchema } from './config.ts';

const { DATABASE_URL } = loadConfig(z.object({ DATABASE_URL: configSchema.shape.DATABASE_URL }), process.env);
const ran = await migrate({
  url: DATABASE_URL,
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
});
process.stdout.write(`${ran.length === 0 ? 'nothing to migrate' : `migrated: ${ran.join(', ')}`}\n`);
