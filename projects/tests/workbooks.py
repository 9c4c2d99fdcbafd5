"""Workbooks as other programs write them, made part by part: what Excel, LibreOffice and attackers put into them.

``libreoffice`` has the traits of a file of LibreOffice Calc (shared strings with ``xml:space``, booleans as ``b``, days
as numbers under a style, ``dimension`` and ``sheetPr``); no copy of LibreOffice was at hand to write one. ``excel`` has
those of Excel.
"""

import io
import zipfile
from collections.abc import Mapping
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
STYLES = (
    f'{HEAD}<styleSheet xmlns="{MAIN}"><numFmts count="1">'
    '<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>'
    '<fonts count="1"><font><sz val="10"/><name val="Liberation Sans"/></font></fonts><fills count="1"><fill>'
    '<patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf xfId="0"/>'
    '<xf numFmtId="164" xfId="0" applyNumberFormat="true"/></cellXfs>'
    "</styleSheet>"
)


def workbook(sheet: str, *, strings: list[str] | None = None, more: Mapping[str, bytes] | None = None) -> bytes:
    """An archive around the XML of one sheet."""
    shared = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in strings or [])
    parts = {
        "[Content_Types].xml": f'{HEAD}<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Override PartName="/xl/workbook.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        '<Override PartName="/xl/worksheets/sheet1.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        '<Override PartName="/xl/sharedStrings.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
        '<Override PartName="/xl/styles.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>',
        "_rels/.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="Sheet1" sheetId="1" r:id="rId3"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{OFFICE}/styles" Target="styles.xml"/>'
        f'<Relationship Id="rId2" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
        f'<Relationship Id="rId3" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/styles.xml": STYLES,
        "xl/sharedStrings.xml": f'{HEAD}<sst xmlns="{MAIN}" count="1" uniqueCount="1">{shared}</sst>',
        "xl/worksheets/sheet1.xml": sheet,
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
        for name, raw in (more or {}).items():
            archive.writestr(name, raw)
    return file.getvalue()


def sheet(rows: str, *, head: str = "") -> str:
    return f'{HEAD}<worksheet xmlns="{MAIN}">{head}<sheetData>{rows}</sheetData></worksheet>'


def libreoffice() -> bytes:
    """Shared strings, a boolean, numbers, a day of which only the style says that it is one, an empty styled cell."""
    strings = ["Name", "Ziel", "Breakthrough potential", "Goal", "多模态 语音", "Zeile 1\nZeile 2", " '=1+1"]
    rows = (
        '<row r="1" customFormat="false" ht="12.8" hidden="false"><c r="A1" s="0" t="s"><v>0</v></c>'
        '<c r="B1" s="0" t="s"><v>3</v></c><c r="C1" s="0" t="s"><v>2</v></c></row>'
        '<row r="2"><c r="A2" s="0" t="s"><v>4</v></c><c r="B2" s="0" t="s"><v>5</v></c>'
        '<c r="C2" s="0" t="n"><v>7</v></c></row>'
        '<row r="4"><c r="A4" s="1" t="n"><v>46357</v></c><c r="B4" s="0" t="b"><v>1</v></c><c r="C4" s="0"/></row>'
    )
    head = '<sheetPr filterMode="false"/><dimension ref="A1:C4"/><cols><col min="1" max="3" width="11.53"/></cols>'
    return workbook(sheet(rows, head=head), strings=strings)


def excel() -> bytes:
    """Inline and shared strings, escapes of characters, a formula with its last value, an error, a wrong dimension."""
    strings = ["name", "goal", "stage", "Line 1_x000D_\nLine 2", "a _x005F_x0041_ b"]
    rows = (
        '<row r="1" spans="1:3"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>'
        '<c r="C1" t="s"><v>2</v></c></row>'
        '<row r="2"><c r="A2" t="inlineStr"><is><t>Inline</t></is></c><c r="B2" t="s"><v>3</v></c>'
        '<c r="C2" t="str"><f>"train"&amp;"ing"</f><v>training</v></c></row>'
        '<row r="3"><c r="A3" t="s"><v>4</v></c><c r="B3" t="e"><v>#N/A</v></c></row>'
        '<row r="4"><c r="A4" t="inlineStr"><is><r><t>Rich </t></r><r><t>text</t></r></is></c></row>'
    )
    return workbook(sheet(rows, head='<dimension ref="A1"/>'), strings=strings)
