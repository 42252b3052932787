import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from './data-directory.ts';
import type { Report } from './report.ts';
import type { StackSettings } from './settings.ts';

export const SAMPLE_PARTNER = 'sample-partner';
export const SAMPLE_PARTNER_WEBHOOKS = 'sample-partner-webhooks';
/** The dispatcher reads the certificate at its start, and may run for weeks. */
const RENEW_BEFORE_DAYS = 60;

export const samplePartnerPorts = (env: NodeJS.ProcessEnv): readonly string[] =>
  env['SAMPLE_PARTNER']?.toLowerCase() === 'off' ? [] : [SAMPLE_PARTNER, SAMPLE_PARTNER_WEBHOOKS];

export const samplePartnerFolder = ({ dataDirectory }: Pick<StackSettings, 'dataDirectory'>): string =>
  join(dataDirectory, SAMPLE_PARTNER);

export interface ReceiverContext {
  readonly settings: Pick<StackSettings, 'env' | 'dataDirectory'>;
  readonly ports: ReadonlyMap<string, number>;
  readonly report: Report;
}

/**
 * Returns the person's environment, with the sample partner app's receiver added to the targets and certificate authorities that
 * the webhook dispatcher trusts. Never rejects: the product works without the app's certificate.
 */
export const withSampleReceiver = async ({ settings, ports, report }: ReceiverContext): Promise<NodeJS.ProcessEnv> => {
  const { env, dataDirectory } = settings;
  const port = ports.get(SAMPLE_PARTNER_WEBHOOKS);
  if (port === undefined) return env;
  try {
    const { ensureLocalAuthority } = await import('@svc/sandbox/partner/authority');
    const folder = samplePartnerFolder(settings);
    const { caFile } = await ensureLocalAuthority(folder, { renewBeforeDays: RENEW_BEFORE_DAYS });
    const given = env['WEBHOOK_EXTRA_CA_FILE'];
    const bundle = given ? bundleAuthorities([given, caFile], join(dataDirectory, 'webhook-authorities.pem')) : caFile;
    const targets = [env['WEBHOOK_ALLOW_TARGETS'], `localhost:${port}`].filter(Boolean).join(',');
    return { ...env, WEBHOOK_ALLOW_TARGETS: targets, WEBHOOK_EXTRA_CA_FILE: bundle };
  } catch (error) {
    report.line(`${SAMPLE_PARTNER} gets no webhooks: ${error instanceof Error ? error.message : String(error)}`);
    return env;
  }
};

const bundleAuthorities = (files: readonly string[], path: string): string => {
  writeFileAtomically(path, files.map((file) => `${readFileSync(file, 'utf8').trimEnd()}\n`).join(''));
  return path;
};
