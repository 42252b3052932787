import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  connectDevice,
  createConnector,
  createMemoryTokenStore,
  createSvcClient,
  createUserTokens,
  type DevicePrompt,
} from '@svc/partner-sdk';
import { renderUnicodeCompact } from 'uqr';
import { readConfig } from '../config.ts';
import { openRegistrationFile } from '../registration/registration-file.ts';

const { baseUrl, folder } = readConfig(process.env);
const allowInsecure = baseUrl.startsWith('http:');
const clientId = openRegistrationFile(join(folder, 'registration.json')).read().terminalClientId;
if (clientId === undefined) throw new Error('the sample partner is not registered yet: start it first');
const question = process.argv.slice(2).join(' ') || 'Say something about Lake Como.';

const showPrompt = ({ userCode, verificationUri, verificationUriComplete }: DevicePrompt): void => {
  console.log(`Open ${verificationUri} and enter ${userCode}, or scan:\n`);
  console.log(renderUnicodeCompact(verificationUriComplete));
};

const client = { issuer: baseUrl, clientId, allowInsecure };
const { svcUserId, tokens } = await connectDevice({
  ...client,
  deviceName: `${hostname()}, terminal`.slice(-80),
  onPrompt: showPrompt,
});
const connector = createConnector({ ...client, redirectUri: 'http://127.0.0.1/callback' });
// A program that keeps its user connected stores the tokens in a file that only the user can read.
const userTokens = createUserTokens({ connector, store: createMemoryTokenStore() });
await userTokens.save(tokens);
try {
  const svc = createSvcClient({ baseUrl, tokens: userTokens.of(svcUserId), allowInsecure });
  for await (const chunk of svc.streamChat({ messages: [{ role: 'user', content: question }] })) {
    process.stdout.write(chunk.choices[0]?.delta.content ?? '');
  }
  console.log();
} finally {
  await connector.revoke(tokens);
}
