import type { SvcClient } from '@svc/partner-sdk';

export const tell = async (client: SvcClient, write: (text: string) => void, signal: AbortSignal): Promise<void> => {
  const messages = [{ role: 'user', content: 'Tell me a story.' }] as const;
  for await (const chunk of client.streamChat({ messages }, { signal })) {
    write(chunk.choices[0]?.delta.content ?? '');
  }
};
