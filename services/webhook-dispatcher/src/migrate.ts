import { fileURLToPath } from 'node:url';
import { migrate } from '@svc/database';
import { loadConfig } from '@svc/service-kit';
import { z } from 'zod';
import { configSchema } from './config.ts';

const config = loadConfig(z.object({ DATABASE_URL: configSchema.shape.DATABASE_URL }), process.env);
const directory = fileURLToPath(new URL('../migrations', import.meta.url));
const ran = await migrate({ url: config.DATABASE_URL, directory });
console.log(ran.length === 0 ? 'webhook-dispatcher: nothing to migrate' : `webhook-dispatcher: ran ${ran.join(', ')}`);
