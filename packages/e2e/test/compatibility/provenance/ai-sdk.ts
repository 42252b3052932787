import { type PublicKeySet, verifyProvenance } from '@svc/partner-sdk';
import { type LanguageModel, streamText } from 'ai';

export const verifyAiSdkMessage = async (model: LanguageModel, issuer: string, keys: PublicKeySet) => {
  // #region example
  const result = streamText({
    model,
    prompt: 'Where does the sun rise?',
    headers: { 'X-Svc-Provenance': '1' },
    include: { rawChunks: true },
  });
  let proof = '';
  for await (const part of result.fullStream) {
    if (part.type !== 'raw') continue;
    const chunk = part.rawValue as { extensions?: { provenance?: string } };
    proof = chunk.extensions?.provenance ?? proof;
  }
  const message = { content: await result.text };
  const claims = await verifyProvenance(message, proof, { issuer, keys });
  // #endregion
  return { message, proof, claims };
};
