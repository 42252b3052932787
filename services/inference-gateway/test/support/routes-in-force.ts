import { writeFile } from 'node:fs/promises';
import { provider, route, routesYaml, type TestGateway } from './start-gateway.ts';

/** Loads other routes: one of every kind to each provider, in the given order. */
export const useProviders = async (gateway: TestGateway, urls: Readonly<Record<string, string>>): Promise<void> => {
  const names = Object.keys(urls);
  const kinds = [
    ['chat', 'svc-chat', 'sandbox-chat-1'],
    ['completions', 'svc-completion', 'sandbox-completion-1'],
    ['embeddings', 'svc-embedding', 'sandbox-embedding-1'],
    ['audio_transcription', 'svc-audio', 'sandbox-audio-1'],
  ] as const;
  const text = routesYaml({
    providers: names.map((name) => provider(name, urls[name] ?? '')),
    routes: names.flatMap((name) =>
      kinds.map(([service, model, upstream]) =>
        route(`${service}-${name}`, { provider: name, service, model, upstream }),
      ),
    ),
    chat: names.map((name) => `chat-${name}`),
    audio: names.map((name) => `audio_transcription-${name}`),
  });
  await writeFile(gateway.routesFile, text);
  if (!(await gateway.reload())) throw new Error('the routes file was refused');
};
