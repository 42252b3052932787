import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from './atomic-file.ts';
import type { Report } from './report.ts';
import type { StackSettings } from './settings.ts';

/** Name of the sample partner app's process, and of the port of its pages. */
export const SAMPLE_PARTNER = 'sample-partner';
/** Name of the port of its webhook receiver. */
export const SAMPLE_PARTNER_WEBHOOKS = 'sample-partner-webhooks';
/** A stack may run for weeks with the authority that its dispatcher has read at the start. */
const RENEW_BEFORE_DAYS = 60;

/** Names of the sample partner app's ports; none with `SAMPLE_PARTNER=off`. */
export const samplePartnerPorts = (env: NodeJS.ProcessEnv): readonly string[] =>
  env['SAMPLE_PARTNER']?.toLowerCase() === 'off' ? [] : [SAMPLE_PARTNER, SAMPLE_PARTNER_WEBHOOKS];

/** Folder of what the sample partner app keeps. */
export const samplePartnerFolder = ({ dataDirectory }: Pick<StackSettings, 'dataDirectory'>): string =>
  join(dataDirectory, SAMPLE_PARTNER);

/** What the receiver's place in the stack depends on. */
export interface ReceiverContext {
  settings: Pick<StackSettings, 'env' | 'dataDirectory'>;
  ports: ReadonlyMap<string, number>;
  report: Report;
}

/**
 * What the person has set, and for the webhook dispatcher the receiver of the sample partner app beside it: its target is added
 * to theirs, its authority to those of their file. Never rejects: without the app's certificate the stack is whole all the same.
 */
export const withSampleReceiver = async ({ settings, ports, report }: ReceiverContext): Promise<NodeJS.ProcessEnv> => {
  const { env, dataDirectory } = settings;
  const port = ports.get(SAMPLE_PARTNER_WEBHOOKS);
  if (port === undefined) return env;
  try {
    // Loaded while the servers start.
    const { ensureLocalAuthority } = await import('@svc/sample-partner/authority');
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
