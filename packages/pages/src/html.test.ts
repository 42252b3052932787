import { describe, expect, test } from 'vitest';
import { html, trustedHtml } from './html.ts';

describe('html', () => {
  test('escapes strings in text and in attributes', () => {
    const evil = `<img src=x onerror="alert('1')">&`;
    expect(html`<p title="${evil}">${evil}</p>`.markup).toBe(
      '<p title="&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;">' +
        '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;</p>',
    );
  });

  test('keeps markup and joins lists', () => {
    const items = ['a', '<b>'].map((text) => html`<li>${text}</li>`);
    expect(html`<ul>${items}${trustedHtml('<hr>')}</ul>`.markup).toBe('<ul><li>a</li><li>&lt;b&gt;</li><hr></ul>');
  });

  test('renders 0 and renders nothing for undefined, false and an empty string', () => {
    expect(html`${undefined}${false}${0}${''}`.markup).toBe('0');
  });
});
