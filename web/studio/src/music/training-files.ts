// SPDX-License-Identifier: Apache-2.0
// Which files of a musician's folder are songs, and the texts that belong to them.

export const isSound = (file: { name: string; type: string }): boolean =>
  /^audio\//.test(file.type) || /\.(wav|flac|ogg|mp3)$/i.test(file.name);

const stem = (name: string) => name.replace(/\.[^.]+$/, '');

interface NamedText {
  name: string;
  text: string;
}

/** The texts that were given, and one with the common tags for each song that has none. */
export async function textsFor(files: readonly File[], tags: string): Promise<NamedText[]> {
  const given = files.filter(({ name }) => /\.txt$/i.test(name));
  const texts = await Promise.all(
    given.map(async (file) => ({ name: file.name, text: await file.text() })),
  );
  const names = new Set(given.map(({ name }) => name));
  for (const { name } of files.filter(isSound)) {
    const own = [`${stem(name)}_prompt.txt`, `${stem(name)}.txt`];
    if (!own.some((one) => names.has(one)))
      texts.push({ name: own[0], text: tags.trim() || 'music' });
  }
  return texts;
}
