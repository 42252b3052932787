import { setPriority } from 'node:os';
import { type Attacker, createTally } from '../neighbors/attacker.ts';
import { drip, pipeline, sendBodies, sendKeys } from '../neighbors/attackers.ts';
import type { Attack, AttackOrder } from '../neighbors/attacks.ts';

// Attacks the gateway on the driver's orders. Runs at the lowest priority: real attackers have their own machines and
// would not take the measured processes' cores.
setPriority(Number(process.env['NICE']));

const attackerOf = (attack: Attack): Attacker => {
  switch (attack.kind) {
    case 'bodies':
      return sendBodies(attack);
    case 'keys':
      return sendKeys(attack);
    case 'drip':
      return drip(attack);
    case 'pipeline':
      return pipeline(attack);
  }
};

let go: (() => void) | undefined;
let end: (() => void) | undefined;

process.on('message', (message: AttackOrder) => {
  if (message.order === 'prepare') {
    const { url, credentials } = message;
    const tally = createTally();
    const start = attackerOf(message.attack);
    go = () => {
      const stop = start({ url: new URL(url), credentials, tally });
      end = () => {
        stop();
        process.send?.(tally.report());
      };
    };
    process.send?.('ready');
  } else if (message.order === 'go') go?.();
  else end?.();
});
process.on('disconnect', () => process.exit());
