/** Paths of the endpoints that are called, below the base URL. */
export const paths = {
  capabilities: '/v1/integrations/inference/capabilities',
  chat: '/v1/integrations/inference/chat/completions',
  transcriptions: '/v1/integrations/inference/audio/transcriptions',
  usage: '/v1/integrations/usage',
  requestUsage: (requestId: string): string => `/v1/integrations/usage/requests/${encodeURIComponent(requestId)}`,
} as const;
