import { fileURLToPath } from 'node:url';
import { migrate } from '@svc/database';
import { databaseSettings, loadConfig } from '@svc/service-kit';
import { z } from 'zod';

const config = loadConfig(z.object(databaseSettings), process.env);
const directory = fileURLToPath(new URL('../migrations', import.meta.url));
const ran = await migrate({ url: config.DATABASE_URL, caFile: config.DATABASE_CA_FILE, directory });
console.log(ran.length === 0 ? 'billing: nothing to migrate' : `billing: ran ${ran.join(', ')}`);
