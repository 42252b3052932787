import { type CertificateWatchOptions, createMetrics, watchCertificates } from '@svc/service-kit';
import { captureLogs, waitFor } from '@svc/testing';

const SAMPLE = /^tls_certificate_expires_seconds\{.*peer="(\w+)".*\} (\S+)$/gm;

/** Watches the certificates of these connections until the first are reported. */
export const certificateEnds = async (config: CertificateWatchOptions['config']) => {
  const metrics = createMetrics('auth', { isOfProcess: false });
  const logs = captureLogs();
  const watch = watchCertificates({ config, metrics, logger: logs.logger });
  const read = async () => [...(await metrics.render()).body.matchAll(SAMPLE)];
  const samples = await waitFor(async () => {
    const found = await read();
    return found.length > 0 ? found : undefined;
  });
  await watch.stop();
  const seconds = new Map(samples.map(([, peer = '', value]) => [peer, Number(value)]));
  return { seconds: (peer: string) => seconds.get(peer), logs };
};
