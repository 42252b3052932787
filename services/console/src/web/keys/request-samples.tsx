import { type ReactElement, useState } from 'react';
import { useI18n } from '../i18n/index.ts';
import { CopyButton, Segments } from '../ui/index.ts';
import { SAMPLE_LANGUAGES, type SampleLanguage, sampleRequest } from './sample-request.ts';

const NAMES = { curl: 'curl', python: 'Python', typescript: 'TypeScript' } as const;

/** Shows a first request in several languages, to copy. */
export const RequestSamples = (): ReactElement => {
  const { keys, common } = useI18n().messages;
  const [language, setLanguage] = useState<SampleLanguage>('curl');
  const sample = sampleRequest(language, `${window.location.origin}/v1`);
  return (
    <div className="sample">
      <div className="sample-head">
        <Segments
          label={keys.sampleLanguage}
          value={language}
          onChange={setLanguage}
          options={SAMPLE_LANGUAGES.map((value) => ({ value, label: NAMES[value] }))}
        />
        <CopyButton text={sample} label={`${common.copy}: ${NAMES[language]}`} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: The code may scroll, so it takes the focus. */}
      <pre className="code" tabIndex={0}>
        <code>{sample}</code>
      </pre>
    </div>
  );
};
