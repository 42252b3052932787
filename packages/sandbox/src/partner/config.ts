import { join } from 'node:path';

const PORT_DEFAULT = 8090;
const WEBHOOKS_PORT_DEFAULT = 8443;

export interface Config {
  /** The service's base URL. */
  readonly baseUrl: string;
  /** Port of the pages, on 127.0.0.1. */
  readonly port: number;
  /** Port of the webhook receiver, on localhost. */
  readonly webhooksPort: number;
  /** Folder for the certificate and the registration. */
  readonly folder: string;
}

/** Reads the environment. Throws `TypeError` for invalid values. */
export const readConfig = (env: NodeJS.ProcessEnv): Config => {
  const baseUrl = (env['PUBLIC_BASE_URL'] || 'http://127.0.0.1:8080').replace(/\/+$/, '');
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ''))
    throw new TypeError(`PUBLIC_BASE_URL=${baseUrl} is not a URL`);
  return {
    baseUrl,
    port: readPort(env, 'PORT', PORT_DEFAULT),
    webhooksPort: readPort(env, 'WEBHOOKS_PORT', WEBHOOKS_PORT_DEFAULT),
    folder: env['SAMPLE_PARTNER_DIR'] || join(env['SVC_DATA_DIR'] || '.local', 'sample-partner'),
  };
};

const readPort = (env: NodeJS.ProcessEnv, name: string, otherwise: number): number => {
  const text = env[name] || String(otherwise);
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) throw new TypeError(`${name}=${text} is not a port`);
  return port;
};
