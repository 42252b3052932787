import { createSvcClient, type UserTokens } from '@svc/partner-sdk';

export const ask = async (baseUrl: string, userTokens: UserTokens, svcUserId: string): Promise<string> => {
  const client = createSvcClient({ baseUrl, tokens: userTokens.of(svcUserId) });
  const answer = await client.chat({ messages: [{ role: 'user', content: 'Say something about Lake Como.' }] });
  return answer.choices[0]?.message.content ?? '';
};
