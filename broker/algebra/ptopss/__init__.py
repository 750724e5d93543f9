"""What P-ToPSS means: its lowering from syntax, and its executable meaning, from which every test takes the truth."""
