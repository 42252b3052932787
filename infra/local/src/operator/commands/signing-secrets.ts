import { serviceOperations } from '@svc/contracts';
import type { Command } from '../command.ts';

/** The secrets that webhooks are signed with. */
export const signingSecretCommands: readonly Command[] = [
  {
    words: ['signing-secrets', 'reencrypt'],
    usage: '',
    about: 'put every webhook secret under the first of WEBHOOK_ENCRYPTION_KEY',
    run: async ({ call, print }) => {
      const { reencrypted } = await call(serviceOperations.reencryptSigningSecrets, {});
      print(`${reencrypted} secrets were under another key`);
      return true;
    },
  },
];
