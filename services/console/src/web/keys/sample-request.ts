/** Languages of the samples. */
export const SAMPLE_LANGUAGES = ['curl', 'python', 'typescript'] as const;

export type SampleLanguage = (typeof SAMPLE_LANGUAGES)[number];

/** Returns a first request with an API key, ready to paste. */
export const sampleRequest = (language: SampleLanguage, baseUrl: string): string => {
  switch (language) {
    case 'curl':
      return `curl ${baseUrl}/chat/completions \\
  -H "authorization: Bearer $SVC_API_KEY" \\
  -H "content-type: application/json" \\
  -d '{"model":"svc-chat","messages":[{"role":"user","content":"Hello"}]}'`;
    case 'python':
      return `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key=os.environ["SVC_API_KEY"])
answer = client.chat.completions.create(
    model="svc-chat",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`;
    case 'typescript':
      return `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: process.env.SVC_API_KEY });
const answer = await client.chat.completions.create({
  model: 'svc-chat',
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(answer.choices[0]?.message.content);`;
  }
};
