"""Spellings that mean the same: periods, dates, amounts and numbers; abbreviations with their long forms."""
