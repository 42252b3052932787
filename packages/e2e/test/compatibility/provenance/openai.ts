import { type PublicKeySet, verifyProvenance } from '@svc/partner-sdk';
import type OpenAI from 'openai';

export const verifyOpenaiMessage = async (client: OpenAI, issuer: string, keys: PublicKeySet) => {
  // #region example
  const stream = client.chat.completions.stream(
    { model: 'svc-chat', messages: [{ role: 'user', content: 'Where does the sun rise?' }] },
    { headers: { 'X-Svc-Provenance': '1' } },
  );
  const completion = await stream.finalChatCompletion();
  const { extensions } = completion as typeof completion & { extensions: { provenance: string } };
  const claims = await verifyProvenance(completion, extensions.provenance, { issuer, keys });
  // #endregion
  return { completion, proof: extensions.provenance, claims };
};
