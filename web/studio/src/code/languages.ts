// SPDX-License-Identifier: Apache-2.0
// Languages of the editor, and something to begin with in each.

export const languageNames = ['python', 'javascript', 'cpp'] as const;
export type Language = (typeof languageNames)[number];

export const languageTitles: Record<Language, string> = {
  python: 'Python',
  javascript: 'TypeScript',
  cpp: 'C++',
};

export const examples: Record<Language, string> = {
  python:
    'import os\n\n\ndef read_lines(path):\n    """The lines of a text file, without their ends."""\n    with open(path) as file:\n        return ',
  javascript: 'export function average(values: number[]): number {\n  return ',
  cpp: '#include <vector>\n\ndouble average(const std::vector<double>& values) {\n  double sum = 0;\n  for (',
};

export const fileEndings: Record<Language, string> = { python: 'py', javascript: 'ts', cpp: 'cpp' };
