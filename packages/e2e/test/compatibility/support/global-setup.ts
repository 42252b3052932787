import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestAuthority, freePort, type Identity, startStack } from '@svc/testing';
import type { TestProject } from 'vitest/node';
import { buyKey, type Person, signUp, subscribe } from './people.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Origin of the product, which is also its issuer. */
    origin: string;
    /** Base URL of the gateway, as clients are configured with it. */
    baseUrl: string;
    apiKey: string;
    /** User with a subscription. */
    customer: Person;
    /** Owner of the apps. */
    business: Person;
    /** Port on localhost that webhooks may be sent to. */
    receiverPort: number;
    /** Identity of the receiver, which the product trusts. */
    certificate: Identity;
  }
}

/** Starts the product, with balance for one API key, a subscribed user and a business. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-compatibility-'));
  const authority = await createTestAuthority();
  const receiverPort = await freePort();
  const stack = await startStack(join(folder, 'data'), {
    PORT: '0',
    SAMPLE_PARTNER: 'off',
    WEBHOOK_ALLOW_TARGETS: `localhost:${receiverPort}`,
    WEBHOOK_EXTRA_CA_FILE: authority.caFile,
  });
  const origin = stack.baseUrl;
  const customer = await signUp(origin, 'personal');
  await subscribe(origin, customer);
  project.provide('origin', origin);
  project.provide('baseUrl', `${origin}/v1`);
  project.provide('apiKey', await buyKey(origin, customer));
  project.provide('customer', customer);
  project.provide('business', await signUp(origin, 'business'));
  project.provide('receiverPort', receiverPort);
  project.provide('certificate', await authority.issue({ names: ['localhost'] }));
  return async () => {
    await stack.stop();
    authority.remove();
    await rm(folder, { recursive: true, force: true });
  };
};
