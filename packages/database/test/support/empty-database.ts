import { randomBytes } from 'node:crypto';
import { createDatabase } from '../../src/index.ts';

/** Connection string of the run's superuser. */
export const adminUrl = (): string => {
  const url = process.env['SVC_DATABASE_TEST_URL'];
  if (url === undefined) throw new Error('global-setup.ts did not run');
  return url;
};

/** A fresh database of the run's server. */
export const emptyDatabase = async (): Promise<string> => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = createDatabase(adminUrl(), { poolMax: 1 });
  await admin.raw('CREATE DATABASE ??', [name]);
  await admin.destroy();
  const url = new URL(adminUrl());
  url.pathname = `/${name}`;
  return url.href;
};
