import { fileURLToPath } from 'node:url';
import { keepNodeRunning } from './keep-running.ts';
import { SAMPLE_PARTNER, SAMPLE_PARTNER_WEBHOOKS, samplePartnerFolder } from './sample-receiver.ts';
import { inheritedEnvironment, loopbackUrl } from './service-environment.ts';
import type { StackContext } from './stack-context.ts';

/** Returns the URL of the sample partner app, or undefined if it is off. */
export const samplePartnerUrl = ({ ports }: Pick<StackContext, 'ports'>): string | undefined =>
  ports.has(SAMPLE_PARTNER) ? loopbackUrl(ports, SAMPLE_PARTNER) : undefined;

export const startSamplePartner = async (context: StackContext): Promise<void> => {
  const { settings, ports, paths, baseUrl } = context;
  const url = samplePartnerUrl(context);
  if (url === undefined) return;
  await keepNodeRunning(context, {
    name: SAMPLE_PARTNER,
    script: fileURLToPath(import.meta.resolve('@svc/sandbox/partner/main')),
    directory: settings.root,
    env: {
      ...inheritedEnvironment(settings.env, paths.compileCache),
      PUBLIC_BASE_URL: baseUrl,
      PORT: String(ports.get(SAMPLE_PARTNER)),
      WEBHOOKS_PORT: String(ports.get(SAMPLE_PARTNER_WEBHOOKS)),
      SAMPLE_PARTNER_DIR: samplePartnerFolder(settings),
    },
    url,
    readyUrl: `${url}/healthz`,
  });
};
