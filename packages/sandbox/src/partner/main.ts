import { readConfig } from './config.ts';
import { createLog, describeError } from './log.ts';
import { startSamplePartner } from './start-sample-partner.ts';

const log = createLog((line) => process.stdout.write(line));
try {
  const app = await startSamplePartner(readConfig(process.env), log);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void app.stop().then(() => process.exit(0));
    });
  }
} catch (error) {
  log('error', `cannot start: ${describeError(error)}`);
  process.exit(1);
}
