import { fileURLToPath } from 'node:url';
import { migrate } from '@svc/database';
import { loadConfig } from '@svc/service-kit';
import { z } from 'zod';
import { billingConfigSchema } from './config.ts';

const config = loadConfig(z.object({ DATABASE_URL: billingConfigSchema.shape.DATABASE_URL }), process.env);
const directory = fileURLToPath(new URL('../migrations', import.meta.url));
const ran = await migrate({ url: config.DATABASE_URL, directory });
console.log(ran.length === 0 ? 'billing: nothing to migrate' : `billing: ran ${ran.join(', ')}`);
