import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { defineStyle, html, pagePolicy, renderPage, trustedHtml } from './page.ts';
import { THEME } from './site.ts';

const style = defineStyle(THEME, 'p{margin:0}');
const page = { locale: 'it', title: 'A & B', style, body: html`<main>${'<'}</main>` };

describe('a page', () => {
  test('escapes its title and keeps its body', () => {
    const text = renderPage(page);
    expect(text).toContain('<html lang="it">');
    expect(text).toContain('<title>A &amp; B · svc</title>');
    expect(text).toContain('<main>&lt;</main>');
  });

  test('reloads only if refreshSeconds is set', () => {
    expect(renderPage(page)).not.toContain('http-equiv');
    expect(renderPage({ ...page, refreshSeconds: 2 })).toContain('<meta http-equiv="refresh" content="2">');
  });
});

describe('the policy of a page', () => {
  test('allows exactly the style that the page carries', () => {
    const css = /<style>([\s\S]*)<\/style>/.exec(renderPage(page))?.[1] ?? '';
    expect(pagePolicy(style)).toContain(`style-src 'sha256-${hash('sha256', css, 'base64')}';`);
  });

  test('allows forms to lead to this origin and to each target once', () => {
    expect(pagePolicy(style)).toContain("form-action 'self';");
    const targets = ['https://a.example', 'com.example.notes:', 'https://a.example'];
    expect(pagePolicy(style, targets)).toContain("form-action 'self' https://a.example com.example.notes:;");
  });

  test('allows no script and no frame', () => {
    expect(pagePolicy(style)).toMatch(/^default-src 'none'; .*frame-ancestors 'none'; base-uri 'none'$/);
  });
});

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
