import { expect, test } from 'vitest';
import { html } from './html.ts';

test('texts are escaped, markup is kept, nothing is left out silently', () => {
  const name = `<img src=x onerror="a('b')">&`;
  expect(html`<p title="${name}">${name}</p>`.markup).toBe(
    '<p title="&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt;&amp;">&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt;&amp;</p>',
  );
  expect(html`<ul>${['a', '<'].map((item) => html`<li>${item}</li>`)}</ul>`.markup).toBe(
    '<ul><li>a</li><li>&lt;</li></ul>',
  );
  expect(html`${undefined}${false}${0}${''}`.markup).toBe('0');
});
