import { fileURLToPath } from 'node:url';
import { migrate } from '@svc/database';
import { commonSettings, loadConfig } from '@svc/service-kit';
import { z } from 'zod';

const { DATABASE_URL } = loadConfig(z.object({ DATABASE_URL: commonSettings.DATABASE_URL }), process.env);
const directory = fileURLToPath(new URL('../migrations', import.meta.url));
const names = await migrate({ url: DATABASE_URL, directory });
console.log(names.length === 0 ? 'nothing to migrate' : `migrated: ${names.join(', ')}`);
