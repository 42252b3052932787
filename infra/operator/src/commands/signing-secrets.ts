import { serviceOperations } from '@svc/contracts';
import type { Command } from '../command.ts';

/** Commands for webhook signing secrets. */
export const signingSecretCommands: readonly Command[] = [
  {
    words: ['signing-secrets', 'reencrypt'],
    usage: '',
    about: 're-encrypt every webhook secret with the first of WEBHOOK_ENCRYPTION_KEY',
    run: async ({ call, print }) => {
      const { reencrypted } = await call(serviceOperations.reencryptSigningSecrets, {});
      print(`${reencrypted} secrets were under another key`);
      return true;
    },
  },
];
